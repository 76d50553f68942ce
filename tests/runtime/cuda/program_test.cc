#include "runtime/cuda/program.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cuda {
namespace {

// x -> h -> y, and two constants.
Program Buffers() {
  Program program;
  program.plan.buffers = {
      {.name = "x", .bytes = 64, .place = plan::Place::kInput},
      {.name = "w", .bytes = 64, .place = plan::Place::kConstant},
      {.name = "h", .bytes = 64, .offset = 0},
      {.name = "y", .bytes = 64, .place = plan::Place::kOutput}};
  return program;
}

TEST(ProgramTest, ALaunchIsALineWithItsGeometryAndArguments) {
  Program program = Buffers();
  program.plan.steps = {
      {.name = "Add", .reads = {0}, .writes = {2}, .scratch_bytes = 128}};
  program.steps = {
      {KernelLaunch{.entry = "reprise_add_f32",
                    .grid = {3},
                    .block = {32, 8},
                    .shared_bytes = 512,
                    .arguments = {Place{0}, Place{}, Place{2, 16},
                                  Place{kScratch, 64}, ByValue(uint64_t{7})}}}};
  EXPECT_EQ(ProgramText(program),
            "step 0 Add scratch 128\n"
            "  reprise_add_f32<<<3, 32x8x1, 512>>>(x, -, h+16, scratch+64, "
            "{8:4bd7a317074c5b62})\n");
}

TEST(ProgramTest, BytesPassedByValueAreToldApart) {
  const auto text = [](float value) {
    Program program = Buffers();
    program.plan.steps = {{.name = "Scale"}};
    program.steps = {{KernelLaunch{
        .entry = "k", .grid = {}, .block = {}, .arguments = {ByValue(value)}}}};
    return ProgramText(program);
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(ProgramTest, AProductSaysWhatItAddsAndWhatFollows) {
  Program program = Buffers();
  program.plan.steps = {{.name = "Gemm"}, {.name = "MatMul"}};
  MatrixProduct gemm;
  gemm.m = 2;
  gemm.n = 3;
  gemm.k = 4;
  gemm.transpose_b = true;
  gemm.alpha = 0.5F;
  gemm.beta = 2;
  gemm.type = DType::kFp16;
  gemm.epilogue = MatrixProduct::Epilogue::kRelu;
  gemm.a = {0};
  gemm.b = {1};
  gemm.c = {2};
  gemm.d = {3};
  gemm.bias = {1, 32};
  MatrixProduct batch;
  batch.m = batch.n = batch.k = 1;
  batch.batch = 5;
  batch.tf32 = true;
  batch.stride_a = 1;
  batch.stride_d = 3;
  batch.a = batch.b = {0};
  batch.d = {3};
  program.steps = {{gemm}, {batch}};
  EXPECT_EQ(ProgramText(program),
            "step 0 Gemm\n"
            "  product FP16 2x3x4 x * w^T alpha 0.5 + 2 h + bias w+32 relu -> "
            "y\n"
            "step 1 MatMul\n"
            "  product FP32 tf32 1x1x1 batch 5 x * x strides 1,0,0,3 -> y\n");
}

TEST(ProgramTest, ACopySaysItsBytes) {
  Program program = Buffers();
  program.plan.steps = {{.name = "Copy"}};
  program.steps = {{Copy{{0, 16}, {3}, 48}}};
  EXPECT_EQ(ProgramText(program), "step 0 Copy\n  copy 48 bytes x+16 -> y\n");
}

}  // namespace
}  // namespace reprise::cuda
