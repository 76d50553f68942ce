#include "runtime/cuda/ptx_chain.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/walk.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cuda/emulation/ptx.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr ChainOperand Input(int index) {
  return {.kind = ChainOperand::Kind::kInput, .index = index};
}
constexpr ChainOperand Link(int index) { return {.index = index}; }
constexpr ChainOperand Number(float number) {
  return {.kind = ChainOperand::Kind::kNumber, .number = number};
}

kernels::ChainWalk WalkOf(const Dims& out, const std::vector<Dims>& inputs) {
  std::vector<Dims> strides;
  for (const Dims& dims : inputs) {
    strides.push_back(BroadcastStrides(dims, out));
  }
  const int pack = ElementCount(out) % kChainPack == 0 ? kChainPack : 1;
  return MakeChainWalk(out, strides, pack).value();
}

// The kernel of `chain` run over `inputs`, of FP32, in the emulator.
std::vector<float> RunChain(const Chain& chain, const Dims& out,
                            const std::vector<Dims>& dims,
                            std::vector<std::vector<float>> inputs) {
  const kernels::ChainWalk walk = WalkOf(out, dims);
  const GeneratedModule module = WriteChain(chain, walk);
  std::vector<float> y(static_cast<size_t>(ElementCount(out)), -77);
  std::vector<void*> pointers;
  for (std::vector<float>& input : inputs) pointers.push_back(input.data());
  pointers.push_back(y.data());
  std::vector<std::byte> params(sizeof(walk));
  std::memcpy(params.data(), &walk, sizeof(walk));
  EXPECT_THAT(
      emulation::RunPtx(module.ptx, FlatLaunch(module.name, walk.count, {}),
                        pointers, params),
      IsOk())
      << module.ptx;
  return y;
}

const std::vector<float>& Samples() {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  static const auto& samples = *new std::vector<float>{
      0,    -0.0F, 1e-5F, -1e-5F, 5e-4F, 0.01F, -0.019F, 0.021F,
      0.3F, -0.3F, 0.5F,  1,      -1,    1.5F,  -2.2F,   3,
      -3,   4.5F,  -5,    9,      -9,    20,    -20,     60,
      -60,  100,   -100,  1e6F,   -1e6F, kInf,  -kInf,   kNan};
  return samples;
}

struct Function {
  ChainOp op;
  double (*answer)(double x);
};
double Gate(double x, double alpha, double beta) {
  return std::max(std::min(alpha * x + beta, 1.0), 0.0);  // NaN stays
}
const Function kFunctions[] = {
    {ChainOp::kNeg, [](double x) { return -x; }},
    {ChainOp::kAbs, [](double x) { return std::fabs(x); }},
    {ChainOp::kRelu, [](double x) { return x < 0 ? 0 : x; }},
    {ChainOp::kLeakyRelu, [](double x) { return x < 0 ? 0.25 * x : x; }},
    {ChainOp::kClip,
     [](double x) { return x < 0.25 ? 0.25 : (0.5 < x ? 0.5 : x); }},
    {ChainOp::kExp, [](double x) { return std::exp(x); }},
    {ChainOp::kLog, [](double x) { return std::log(x); }},
    {ChainOp::kSqrt, [](double x) { return std::sqrt(x); }},
    {ChainOp::kReciprocal, [](double x) { return 1 / x; }},
    {ChainOp::kSquare, [](double x) { return x * x; }},
    {ChainOp::kErf, [](double x) { return std::erf(x); }},
    {ChainOp::kTanh, [](double x) { return std::tanh(x); }},
    {ChainOp::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {ChainOp::kHardSigmoid, [](double x) { return Gate(x, 0.25, 0.5); }},
    {ChainOp::kHardSwish, [](double x) { return x * Gate(x, 1.0 / 6, 0.5); }},
    {ChainOp::kGeluErf,
     [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {ChainOp::kGeluTanh, [](double x) {
       return 0.5 * x *
              (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }}};

void ExpectNear(float have, double exact, const std::string& what) {
  const auto want = static_cast<float>(exact);
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(have)) << what << " is " << have;
  } else if (std::isinf(want)) {
    EXPECT_EQ(have, want) << what;
  } else {
    EXPECT_NEAR(have, want, 2e-6 + 2e-5 * std::abs(exact)) << what;
  }
}

TEST(PtxChainTest, FunctionsOfOneNumber) {
  const auto count = static_cast<int64_t>(Samples().size());
  for (const Function& function : kFunctions) {
    const Chain chain{
        .inputs = {DType::kFp32},
        .links = {
            {.op = function.op, .a = Input(0), .alpha = 0.25F, .beta = 0.5F}}};
    const std::vector<float> y =
        RunChain(chain, {count}, {{count}}, {Samples()});
    for (size_t i = 0; i < y.size(); ++i) {
      ExpectNear(y[i], function.answer(static_cast<double>(Samples()[i])),
                 absl::StrCat("function ", static_cast<int>(function.op),
                              " of ", Samples()[i]));
    }
  }
}

TEST(PtxChainTest, FunctionsOfTwoNumbersWithNanWinningMaxima) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {6, -1, kNan, 2};
  const std::vector<float> b = {-2, 4, 1, kNan};
  const auto run = [&](ChainOp op) {
    const Chain chain{.inputs = {DType::kFp32, DType::kFp32},
                      .links = {{.op = op, .a = Input(0), .b = Input(1)}}};
    return RunChain(chain, {4}, {{4}, {4}}, {a, b});
  };
  const auto expect = [&](ChainOp op, float first, float second) {
    const std::vector<float> y = run(op);
    EXPECT_EQ(y[0], first);
    EXPECT_EQ(y[1], second);
    EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]));
  };
  expect(ChainOp::kAdd, 4, 3);
  expect(ChainOp::kSub, 8, -5);
  expect(ChainOp::kMul, -12, -4);
  expect(ChainOp::kDiv, -3, -0.25F);
  expect(ChainOp::kMax, 6, 4);
  expect(ChainOp::kMin, -2, -1);
}

// (x - m) * w + 2, with x as `out`.
const Chain& Affine() {
  static const Chain& chain = *new Chain{
      .inputs = {DType::kFp32, DType::kFp32, DType::kFp32},
      .links = {{.op = ChainOp::kSub, .a = Input(0), .b = Input(1)},
                {.op = ChainOp::kMul, .a = Link(0), .b = Input(2)},
                {.op = ChainOp::kAdd, .a = Link(1), .b = Number(2)}}};
  return chain;
}

TEST(PtxChainTest, OperandsAreBroadcast) {
  for (const int64_t columns : {8, 5, 1}) {
    const Dims out = {2, 3, columns};
    std::vector<float> x(static_cast<size_t>(6 * columns));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    std::vector<float> w(static_cast<size_t>(columns));
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i) + 1;
    const std::vector<float> m = {1, 2, 3, 4, 5, 6};
    const std::vector<float> y =
        RunChain(Affine(), out, {out, {2, 3, 1}, {columns}}, {x, m, w});
    for (size_t i = 0; i < y.size(); ++i) {
      const auto row = i / w.size();
      EXPECT_EQ(y[i], (x[i] - m[row]) * w[i % w.size()] + 2) << i;
    }
  }
}

TEST(PtxChainTest, NarrowFloatsAreRoundedOnceInTheEnd) {
  const Chain chain{
      .inputs = {DType::kFp16, DType::kBf16},
      .links = {{.op = ChainOp::kMul, .a = Input(0), .b = Number(1e5F)},
                {.op = ChainOp::kMul, .a = Link(0), .b = Number(1e-5F)},
                {.op = ChainOp::kAdd, .a = Link(1), .b = Input(1)}},
      .output = DType::kBf16};
  std::vector<Half> a = {Half(2.0F), Half(0.5F), Half(-3.0F), Half(1024.0F)};
  std::vector<BFloat16> b = {1.0F, 0.25F, 100.0F,
                             std::numeric_limits<float>::quiet_NaN()};
  std::vector<BFloat16> y(4);
  const kernels::ChainWalk walk = WalkOf({4}, {{4}, {4}});
  const GeneratedModule module = WriteChain(chain, walk);
  void* const pointers[] = {a.data(), b.data(), y.data()};
  std::vector<std::byte> params(sizeof(walk));
  std::memcpy(params.data(), &walk, sizeof(walk));
  ASSERT_THAT(emulation::RunPtx(module.ptx, FlatLaunch(module.name, 1, {}),
                                pointers, params),
              IsOk());
  EXPECT_EQ(static_cast<float>(y[0]), 3);
  EXPECT_EQ(static_cast<float>(y[1]), 0.75F);
  EXPECT_EQ(static_cast<float>(y[2]), 97);
  EXPECT_TRUE(std::isnan(static_cast<float>(y[3])));
}

TEST(PtxChainTest, TheNameIsTheCodes) {
  const auto name = [](const Chain& chain, const Dims& out) {
    return WriteChain(chain, WalkOf(out, {out, {1}, {1}})).name;
  };
  // Numbers of rows are no part of the code.
  EXPECT_EQ(name(Affine(), {4, 8}), name(Affine(), {32, 8}));
  EXPECT_NE(name(Affine(), {4, 8}), name(Affine(), {3, 7}));
  Chain other = Affine();
  other.links[2].b = Number(3);
  EXPECT_NE(name(Affine(), {4, 8}), name(other, {4, 8}));
}

TEST(PtxChainTest, ElementsThatLieTogetherAreLoadedTogether) {
  const Dims out = {4, 8};
  EXPECT_THAT(WriteChain(Affine(), WalkOf(out, {out, {1}, {8}})).ptx,
              HasSubstr("ld.global.v4.f32"));
  const Dims odd = {3, 7};
  EXPECT_THAT(WriteChain(Affine(), WalkOf(odd, {odd, {1}, {7}})).ptx,
              Not(HasSubstr("v4")));
}

// Whether ptxas takes the text.
int Assemble(const std::string& ptx) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "ptx_chain_test";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "chain.ptx").string();
  std::ofstream(file) << ptx;
  const int result =
      std::system(absl::StrCat(REPRISE_PTXAS, " -arch=sm_90 -Werror -o ", file,
                               ".cubin ", file)
                      .c_str());
  std::filesystem::remove_all(folder);
  return result;
}

TEST(PtxChainTest, PtxasTakesEveryFunctionAndType) {
  if (!std::filesystem::exists(REPRISE_PTXAS)) {
    GTEST_SKIP() << "there is no ptxas";
  }
  for (const DType type : {DType::kFp32, DType::kFp16, DType::kBf16}) {
    Chain chain{.inputs = {type, type}, .links = {}, .output = type};
    chain.links.push_back({.op = ChainOp::kAdd, .a = Input(0), .b = Input(1)});
    for (int op = 0; op <= static_cast<int>(ChainOp::kGeluTanh); ++op) {
      chain.links.push_back({.op = static_cast<ChainOp>(op),
                             .a = Link(op),
                             .b = Number(0.5F),
                             .alpha = 0.25F,
                             .beta = 0.5F});
    }
    for (const Dims& out : {Dims{4, 8}, Dims{3, 7}}) {
      const GeneratedModule module =
          WriteChain(chain, WalkOf(out, {out, {out[1]}}));
      EXPECT_EQ(Assemble(module.ptx), 0) << module.ptx;
    }
  }
}

}  // namespace
}  // namespace reprise::cuda
