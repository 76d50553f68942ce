#include "runtime/cuda/cuda_lowering.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cpu/cpu_lowering.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/ops/fold_constants.h"
#include "runtime/ops/fuse.h"
#include "tests/runtime/cpu/model_fixture.h"
#include "tests/runtime/cuda/emulation/emulator.h"
#include "tests/runtime/cuda/networks.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

// A model as a device loads it: constants folded, neighbours fused.
struct Prepared {
  graph::Graph graph;
  Signature signature;
};
Prepared Prepare(const OnnxBuilder& builder, int max_batch) {
  const cpu::TestModel model = cpu::Import(builder, max_batch);
  Prepared prepared{*model.graph, model.signature};
  EXPECT_THAT(ops::FoldConstants(prepared.graph, {}, cpu::EvaluateNode),
              IsOk());
  EXPECT_THAT(ops::Fuse(prepared.graph, {}), IsOk());
  return prepared;
}

// One run's tensors.
struct Tensors {
  std::vector<HostTensor> tensors;
  std::vector<std::byte*> addresses;

  void Add(const ops::TensorType& type) {
    tensors.push_back(HostTensor::Create(type.dtype, type.dims).value());
    addresses.push_back(tensors.back().bytes().data());
  }
};

Tensors Inputs(const ops::BoundGraph& bound) {
  Tensors inputs;
  for (const graph::ValueId id : bound.graph->inputs) {
    const ops::TensorType& type = bound.types[graph::At(id)];
    inputs.Add(type);
    HostTensor& tensor = inputs.tensors.back();
    const std::vector<float> noise =
        cpu::Noise(static_cast<size_t>(tensor.elements()), 42);
    for (size_t i = 0; i < noise.size(); ++i) {
      const auto number = static_cast<int>(std::abs(noise[i]) * 20);
      if (type.dtype == DType::kFp32) tensor.values<float>()[i] = noise[i];
      if (type.dtype == DType::kInt32) tensor.values<int32_t>()[i] = number;
      if (type.dtype == DType::kInt64) tensor.values<int64_t>()[i] = number;
    }
  }
  return inputs;
}

Tensors Outputs(const ops::BoundGraph& bound) {
  Tensors outputs;
  for (const graph::ValueId id : bound.graph->outputs) {
    outputs.Add(bound.types[graph::At(id)]);
  }
  return outputs;
}

Tensors ByCpu(const ops::BoundGraph& bound, const Tensors& inputs) {
  cpu::Weights weights(*bound.graph);
  auto program = cpu::Lower(bound, cpu::OneDnn::Create().value(), weights,
                            {.use_onednn = false});
  EXPECT_THAT(program, IsOk());
  Tensors outputs = Outputs(bound);
  if (!program.ok()) return outputs;
  AlignedBuffer arena(static_cast<size_t>(program->plan.arena_bytes));
  cpu::Runner runner(*std::move(program), arena.data());
  EXPECT_THAT(runner.Run({inputs.addresses, outputs.addresses}), IsOk());
  return outputs;
}

// Holds the emulated GPU to the CPU's answer; returns the program.
std::string ExpectSame(const Prepared& model, int rows,
                       const LoweringOptions& options, float tolerance) {
  auto bound = ops::Bind(model.graph, model.signature, rows, {});
  EXPECT_THAT(bound, IsOk());
  if (!bound.ok()) return "";
  CudaWeights weights;
  auto program = Lower(*bound, weights, options);
  EXPECT_THAT(program, IsOk());
  if (!program.ok()) return "";
  const std::string text = ProgramText(*program);
  const Tensors inputs = Inputs(*bound);
  const Tensors want = ByCpu(*bound, inputs);
  const Tensors have = Outputs(*bound);
  EXPECT_THAT(
      emulation::Run(*program, weights, inputs.addresses, have.addresses),
      IsOk());
  for (size_t k = 0; k < want.tensors.size(); ++k) {
    if (want.tensors[k].dtype() != DType::kFp32) {
      EXPECT_TRUE(
          std::ranges::equal(have.tensors[k].bytes(), want.tensors[k].bytes()));
      continue;
    }
    const auto expected = want.tensors[k].values<float>();
    const auto found = have.tensors[k].values<float>();
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i],
                  tolerance * (1 + std::abs(expected[i])))
          << i << "\n"
          << text;
      if (::testing::Test::HasFailure()) return text;
    }
  }
  return text;
}

// y0 = a + b, y1 = a - b, as deploy/models/simple has it.
OnnxBuilder Simple() {
  constexpr int kInt32 = onnx::TensorProto::INT32;
  OnnxBuilder model(13);
  model.Input("INPUT0", {"N", 16}, kInt32)
      .Input("INPUT1", {"N", 16}, kInt32)
      .Node("Add", {"INPUT0", "INPUT1"}, {"OUTPUT0"})
      .Node("Sub", {"INPUT0", "INPUT1"}, {"OUTPUT1"})
      .Output("OUTPUT0", {"N", 16}, kInt32)
      .Output("OUTPUT1", {"N", 16}, kInt32);
  return model;
}

constexpr Precision kPrecisions[] = {Precision::kFp32, Precision::kTf32,
                                     Precision::kFp16, Precision::kBf16};
float ToleranceOf(Precision precision) {
  if (precision == Precision::kFp16) return 6e-3F;
  return precision == Precision::kBf16 ? 5e-2F : 2e-4F;
}

TEST(CudaLoweringTest, SimpleIsTwoKernels) {
  const std::string text = ExpectSame(Prepare(Simple(), 8), 3, {}, 0);
  EXPECT_THAT(
      text, HasSubstr("step 0 Add\n"
                      "  reprise_add_i32<<<1, 256>>>(INPUT0, INPUT1, OUTPUT0"));
  EXPECT_THAT(
      text, HasSubstr("step 1 Sub\n"
                      "  reprise_sub_i32<<<1, 256>>>(INPUT0, INPUT1, OUTPUT1"));
}

TEST(CudaLoweringTest, AnMlpIsProductsWithEpiloguesAndASoftmax) {
  const Prepared model = Prepare(Mlp(32, 24, 10), 8);
  for (const Precision precision : kPrecisions) {
    for (const int rows : {1, 5, 8}) {
      ExpectSame(model, rows, {.precision = precision}, ToleranceOf(precision));
    }
  }
  const std::string text = ExpectSame(model, 4, {}, 1e-4F);
  EXPECT_THAT(
      text, HasSubstr("step 0 Gemm:cublaslt scratch 33554432\n"
                      "  product FP32 4x24x32 x * w1^T + bias b1 relu -> r1"));
  EXPECT_THAT(text, HasSubstr("step 3 Softmax\n"
                              "  reprise_softmax_team_f32<<<1, 32x4x1>>>"));
  EXPECT_THAT(text, Not(HasSubstr("step 4")));
}

TEST(CudaLoweringTest, WithoutTheLibraryOurOwnKernelMultiplies) {
  const Prepared model = Prepare(Mlp(32, 24, 10), 8);
  for (const Precision precision : kPrecisions) {
    const std::string text =
        ExpectSame(model, 5, {.precision = precision, .has_cublaslt = false},
                   ToleranceOf(precision));
    EXPECT_THAT(text, Not(HasSubstr("product")));
  }
}

TEST(CudaLoweringTest, AnEncoderWithItsNormsInParts) {
  const Prepared model = Prepare(EncoderLayer(/*fused_norm=*/false), 4);
  for (const Precision precision : kPrecisions) {
    ExpectSame(model, 2, {.precision = precision}, ToleranceOf(precision));
  }
}

TEST(CudaLoweringTest, AnEncoderWithLayerNormalization) {
  const Prepared model = Prepare(EncoderLayer(/*fused_norm=*/true), 4);
  for (const Precision precision : kPrecisions) {
    const std::string text =
        ExpectSame(model, 3, {.precision = precision}, ToleranceOf(precision));
    EXPECT_THAT(text, HasSubstr("reprise_layer_norm_"));
  }
}

TEST(CudaLoweringTest, ChainsAreOneKernelEach) {
  const Prepared model = Prepare(EncoderLayer(/*fused_norm=*/false), 4);
  for (const Precision precision : kPrecisions) {
    const std::string text = ExpectSame(
        model, 2, {.precision = precision, .chains = Chains::kWritten},
        ToleranceOf(precision));
    EXPECT_THAT(text, HasSubstr(" Chain:Div,Erf,Add,Mul,Mul\n"));
    EXPECT_THAT(text, HasSubstr(" Chain:Div,Mul,Add\n"));
    EXPECT_THAT(text, HasSubstr(" Chain:Add,Sqrt\n"));
    EXPECT_THAT(text, HasSubstr("\nmodule reprise_chain_"));
  }
}

// x turned over by `perm`, times y, or y times it.
OnnxBuilder TurnedProduct(const std::vector<int64_t>& perm, bool right) {
  OnnxBuilder model(17);
  model.Input("x", {"N", 3, 4, 5})
      .Floats("w", {5, 5}, cpu::Noise(25, 1))
      .Node("Transpose", {"x"}, {"t"})
      .Ints("perm", perm)
      .Node("MatMul",
            right ? std::vector<std::string>{"w", "t"}
                  : std::vector<std::string>{"t", "w"},
            {"y"})
      .Output("y", {"N", "a", "b", "c"});
  return model;
}

TEST(CudaLoweringTest, WhatOnlyProductsReadIsNotTurnedOver) {
  for (const bool library : {true, false}) {
    const LoweringOptions options{.has_cublaslt = library};
    // Heads of [.., 5, 4] that are kept as [.., 4, 5].
    ExpectSame(Prepare(TurnedProduct({0, 2, 3, 1}, true), 2), 2, options,
               1e-5F);
    const std::string kept = ExpectSame(
        Prepare(TurnedProduct({0, 1, 3, 2}, true), 2), 2, options, 1e-5F);
    EXPECT_THAT(kept, HasSubstr("step 0 MatMul"));
  }
  const std::string text =
      ExpectSame(Prepare(EncoderLayer(/*fused_norm=*/true), 4), 3, {}, 2e-4F);
  EXPECT_THAT(text, HasSubstr(" * attention.k^T strides "));
  EXPECT_THAT(text, Not(HasSubstr("reprise_move_b4")));
  EXPECT_THAT(text, Not(HasSubstr("reprise_transpose")));
}

TEST(CudaLoweringTest, ATurnedLeftHandSideIsNoTallProduct) {
  OnnxBuilder model(17);
  model.Input("x", {"N", 3, 5, 4})
      .Floats("w", {5, 2}, cpu::Noise(10, 1))
      .Node("Transpose", {"x"}, {"t"})
      .Ints("perm", {0, 1, 3, 2})
      .Node("MatMul", {"t", "w"}, {"y"})
      .Output("y", {"N", 3, 4, 2});
  for (const bool library : {true, false}) {
    ExpectSame(Prepare(model, 2), 2, {.has_cublaslt = library}, 1e-5F);
  }
}

TEST(CudaLoweringTest, ATransposeThatIsGivenOutIsTurnedOver) {
  OnnxBuilder model(17);
  model.Input("x", {"N", 5, 4})
      .Floats("w", {5, 2}, cpu::Noise(10, 1))
      .Node("Transpose", {"x"}, {"t"})
      .Ints("perm", {0, 2, 1})
      .Node("MatMul", {"t", "w"}, {"y"})
      .Output("t", {"N", 4, 5})
      .Output("y", {"N", 4, 2});
  EXPECT_THAT(ExpectSame(Prepare(model, 2), 2, {}, 1e-5F),
              HasSubstr("step 0 Transpose\n  reprise_move_b4"));
}

TEST(CudaLoweringTest, RungsShareTheirWeights) {
  const Prepared model = Prepare(Mlp(32, 24, 10), 8);
  CudaWeights weights;
  int64_t bytes = 0;
  for (const int rows : {8, 4, 1}) {
    auto bound = ops::Bind(model.graph, model.signature, rows, {});
    ASSERT_THAT(bound, IsOk());
    ASSERT_THAT(Lower(*bound, weights, {}), IsOk());
    if (rows == 8) bytes = weights.bytes();
  }
  EXPECT_EQ(weights.bytes(), bytes);
  EXPECT_EQ(weights.size(), 6);
}

TEST(CudaLoweringTest, AddressesAreMultiplesOf64Bytes) {
  const Prepared model = Prepare(EncoderLayer(false), 4);
  auto bound = ops::Bind(model.graph, model.signature, 3, {});
  CudaWeights weights;
  auto program = Lower(*bound, weights, {});
  ASSERT_THAT(program, IsOk());
  for (const plan::Buffer& buffer : program->plan.buffers) {
    if (buffer.place != plan::Place::kArena || buffer.offset < 0) continue;
    EXPECT_EQ(buffer.offset % 64, 0) << buffer.name;
  }
  EXPECT_GT(program->plan.arena_bytes, 0);
}

TEST(CudaLoweringTest, TextIsRefusedWithTheTensorsName) {
  OnnxBuilder model(13);
  model.Input("words", {"N", 2}, onnx::TensorProto::STRING)
      .Node("Identity", {"words"}, {"same"})
      .Output("same", {"N", 2}, onnx::TensorProto::STRING);
  const Prepared prepared = Prepare(model, 2);
  auto bound = ops::Bind(prepared.graph, prepared.signature, 1, {});
  ASSERT_THAT(bound, IsOk());
  CudaWeights weights;
  EXPECT_THAT(Lower(*bound, weights, {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("'words': the CUDA device has no tensors of "
                                 "BYTES")));
}

TEST(CudaLoweringTest, AnOperatorWithoutAKernelIsNamed) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 3, 8, 8})
      .Node("MaxPool", {"x"}, {"y"}, "pool1")
      .Ints("kernel_shape", {2, 2})
      .Output("y", {"N", 3, 7, 7});
  const Prepared prepared = Prepare(model, 2);
  auto bound = ops::Bind(prepared.graph, prepared.signature, 1, {});
  ASSERT_THAT(bound, IsOk());
  CudaWeights weights;
  EXPECT_THAT(Lower(*bound, weights, {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("node 0 'pool1' (MaxPool)")));
}

}  // namespace
}  // namespace reprise::cuda
