#include "runtime/ops/elementwise.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

constexpr DType kNumbers[] = {DType::kFp32,   DType::kFp16,   DType::kBf16,
                              DType::kFp64,   DType::kInt8,   DType::kInt16,
                              DType::kInt32,  DType::kInt64,  DType::kUint8,
                              DType::kUint16, DType::kUint32, DType::kUint64};

// Of a result that is rounded to the type in the end.
double ToleranceOf(DType dtype) {
  if (dtype == DType::kBf16) return 1e-2;
  return dtype == DType::kFp16 ? 2e-3 : 1e-5;
}

TEST(ElementwiseTest, FunctionsOfOneNumber) {
  for (const std::string op :
       {"Abs",         "Acos",       "Acosh",     "Asin",  "Asinh",
        "Atan",        "Atanh",      "Ceil",      "Celu",  "Cos",
        "Cosh",        "Elu",        "Erf",       "Exp",   "Floor",
        "HardSigmoid", "HardSwish",  "LeakyRelu", "Log",   "Mish",
        "Neg",         "Reciprocal", "Relu",      "Round", "Selu",
        "Sigmoid",     "Sign",       "Sin",       "Sinh",  "Softplus",
        "Softsign",    "Sqrt",       "Tan",       "Tanh",  "ThresholdedRelu"}) {
    for (const DType dtype :
         {DType::kFp32, DType::kFp16, DType::kBf16, DType::kFp64}) {
      OpTester(op, 22)
          .In(Numbers(dtype, {3, 11}, 7))
          .ExpectSame(ToleranceOf(dtype));
    }
  }
}

TEST(ElementwiseTest, FunctionsThatIntegersHaveToo) {
  for (const std::string op : {"Abs", "Neg", "Sign"}) {
    for (const DType dtype :
         {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}) {
      OpTester(op).In(Numbers(dtype, {2, 9}, 7)).ExpectSame();
    }
  }
  OpTester("Abs").In(Numbers(DType::kUint8, {9}, 7)).ExpectSame();
}

TEST(ElementwiseTest, AttributesAreHonoured) {
  OpTester("LeakyRelu").In(Noise({9}, 1)).Set("alpha", 0.3F).ExpectSame();
  OpTester("Selu")
      .In(Noise({9}, 1))
      .Set("alpha", 1.5F)
      .Set("gamma", 0.5F)
      .ExpectSame();
  OpTester("Gelu", 20).In(Noise({9}, 1)).ExpectSame();
  OpTester("Gelu", 20)
      .In(Noise({9}, 1))
      .Set("approximate", std::string("tanh"))
      .ExpectSameBy("reprise_gelutanh_f32");
}

TEST(ElementwiseTest, FindsWhatIsNoNumber) {
  const auto x = [] { return F32({5}, {1, kNan, kInf, -kInf, 0}); };
  OpTester("IsNaN").In(x()).ExpectSame();
  OpTester("IsInf").In(x()).ExpectSame();
  OpTester("IsInf").In(x()).Set("detect_negative", int64_t{0}).ExpectSame();
  for (const std::string op : {"Relu", "Abs", "Sign", "Sqrt", "HardSwish"}) {
    OpTester(op).In(x()).ExpectSame();
  }
}

TEST(ElementwiseTest, ArithmeticOfEveryType) {
  for (const std::string op : {"Add", "Sub", "Mul", "Div", "Max", "Min"}) {
    for (const DType dtype : kNumbers) {
      OpTester(op)
          .In(Numbers(dtype, {5, 7}, 1))
          .In(Numbers(dtype, {5, 7}, 2))
          .ExpectSame(ToleranceOf(dtype));
    }
  }
}

TEST(ElementwiseTest, OperandsAreBroadcast) {
  const Dims shapes[][2] = {{{4, 8}, {8}},
                            {{8}, {4, 8}},
                            {{4, 7}, {4, 1}},
                            {{2, 1, 16}, {3, 1}},
                            {{}, {5}},
                            {{5, 1}, {1, 12}},
                            {{2, 3, 4, 5}, {3, 1, 5}},
                            {{0, 3}, {3}},
                            {{70000}, {1}},
                            {{3, 4, 1, 8}, {1, 4, 2, 8}}};
  for (const auto& shape : shapes) {
    OpTester("Sub").In(Noise(shape[0], 1)).In(Noise(shape[1], 2)).ExpectSame();
    OpTester("Sub")
        .In(Numbers(DType::kFp16, shape[0], 1))
        .In(Numbers(DType::kFp16, shape[1], 2))
        .ExpectSame(2e-3);
  }
}

TEST(ElementwiseTest, IntegersWrapAndDivideByZeroToZero) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const auto a = [] { return I32({5}, {kMost, kLeast, kLeast, 7, -7}); };
  const auto b = [] { return I32({5}, {1, -1, 0, 0, 2}); };
  for (const std::string op : {"Add", "Sub", "Mul", "Div", "Mod"}) {
    OpTester(op).In(a()).In(b()).ExpectSame();
  }
  OpTester("Mod").In(a()).In(b()).Set("fmod", int64_t{1}).ExpectSame();
}

TEST(ElementwiseTest, PowersAndTheRest) {
  for (const DType base : {DType::kFp32, DType::kFp16, DType::kFp64,
                           DType::kInt32, DType::kInt64}) {
    for (const DType exponent :
         {DType::kFp32, DType::kFp64, DType::kInt32, DType::kInt64}) {
      OpTester("Pow")
          .In(Numbers(base, {6, 4}, 1))
          .In(Numbers(exponent, {4}, 2))
          .ExpectSame(ToleranceOf(base));
    }
  }
  OpTester("PRelu").In(Noise({4, 3}, 1)).In(Noise({3}, 2)).ExpectSame();
  OpTester("Mod")
      .In(Noise({9}, 1))
      .In(F32({}, {0.25F}))
      .Set("fmod", int64_t{1})
      .ExpectSame();
}

TEST(ElementwiseTest, AnyNumberOfInputs) {
  for (const std::string op : {"Sum", "Mean", "Max", "Min"}) {
    OpTester(op)
        .In(Noise({3, 1}, 1))
        .In(Noise({4}, 2))
        .In(Noise({3, 4}, 3))
        .ExpectSame();
    OpTester(op).In(Noise({3}, 1)).ExpectSameBy("copy 12 bytes");
  }
}

TEST(ElementwiseTest, NanWinsAComparisonOfValues) {
  for (const std::string op : {"Max", "Min"}) {
    OpTester(op)
        .In(F32({3}, {1, kNan, kNan}))
        .In(F32({3}, {kNan, 1, kNan}))
        .ExpectSame();
  }
}

TEST(ElementwiseTest, TheWordsOfALaunch) {
  EXPECT_THAT(OpTester("Add").In(Noise({1000}, 1)).In(Noise({1000}, 2)).Text(),
              HasSubstr("step 0 Add\n"
                        "  reprise_add_f32<<<1, 256>>>(in0, in1, out0, {296:"));
  // Rows of 7 are not walked in packs.
  EXPECT_THAT(OpTester("Add").In(Noise({100, 7}, 1)).In(Noise({7}, 2)).Text(),
              HasSubstr("reprise_add_f32<<<3, 256>>>"));
  EXPECT_THAT(OpTester("Add").In(Noise({0, 7}, 1)).In(Noise({7}, 2)).Text(),
              HasSubstr("reprise_add_f32<<<0, 256>>>"));
}

TEST(ElementwiseTest, WhatHasNoKernelIsRefusedByName) {
  EXPECT_THAT(
      OpTester("BitwiseAnd", 18).In(I32({1}, {1})).In(I32({1}, {1})).Status(),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("(BitwiseAnd): the CUDA device has no kernel")));
  EXPECT_THAT(OpTester("Pow")
                  .In(Numbers(DType::kFp32, {1}, 1))
                  .In(Numbers(DType::kUint8, {1}, 1))
                  .Status(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("UINT8")));
}

}  // namespace
}  // namespace reprise::cuda
