#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cpu/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

TEST(UnaryTest, ComputesEachFunction) {
  const std::pair<const char*, double (*)(double)> cases[] = {
      {"Exp", std::exp},
      {"Sqrt", std::sqrt},
      {"Sin", std::sin},
      {"Cos", std::cos},
      {"Tan", std::tan},
      {"Atan", std::atan},
      {"Tanh", std::tanh},
      {"Sinh", std::sinh},
      {"Erf", std::erf},
      {"Floor", std::floor},
      {"Ceil", std::ceil},
      {"Log", std::log},
      {"Asinh", std::asinh},
      {"Round", std::nearbyint},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"Reciprocal", [](double x) { return 1 / x; }},
      {"Mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"Relu", [](double x) { return x < 0 ? 0 : x; }},
      {"Neg", [](double x) { return -x; }},
      {"Abs", [](double x) { return std::abs(x); }},
      {"Sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }},
  };
  for (const auto& [op, fn] : cases) {
    const HostTensor y =
        OpTester(op, 22).In(F32({3}, {0.3F, 1.5F, 2.5F})).Result();
    const float x[] = {0.3F, 1.5F, 2.5F};
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(y.values<float>()[i], fn(x[i]), 1e-5) << op;
    }
  }
}

TEST(UnaryTest, KeepsNanAndStaysFiniteWhereItCan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(
      OpTester("Relu", 14).In(F32({1}, {nan})).Result().values<float>()[0]));
  EXPECT_EQ(
      OpTester("Softplus", 1).In(F32({1}, {200})).Result().values<float>()[0],
      200);
  EXPECT_EQ(
      OpTester("Sigmoid", 13).In(F32({1}, {-200})).Result().values<float>()[0],
      0);
}

TEST(UnaryTest, IntegersWrapInsteadOfOverflowing) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_THAT(
      Values<int32_t>(OpTester("Abs", 13).In(I32({2}, {least, -5})).Result()),
      ElementsAre(least, 5));
  EXPECT_THAT(
      Values<int32_t>(OpTester("Neg", 13).In(I32({2}, {least, 5})).Result()),
      ElementsAre(least, -5));
}

TEST(UnaryTest, ComputesHalfPrecision) {
  const HostTensor x =
      TensorOf<Half>(DType::kFp16, {2}, {Half(1.0F), Half(-2.0F)});
  OpTester tester("Relu", 14);
  tester.In(TensorOf<Half>(DType::kFp16, {2}, {Half(1.5F), Half(-2.0F)}));
  const HostTensor y = tester.Result();
  EXPECT_EQ(static_cast<float>(y.values<Half>()[0]), 1.5F);
  EXPECT_EQ(static_cast<float>(y.values<Half>()[1]), 0.0F);
}

TEST(UnaryTest, ClipTakesBoundsAsInputsOrNone) {
  EXPECT_THAT(Values<float>(OpTester("Clip", 13)
                                .In(F32({3}, {-2, 0, 2}))
                                .In(F32({}, {-1}))
                                .In(F32({}, {1}))
                                .Result()),
              ElementsAre(-1, 0, 1));
  EXPECT_THAT(Values<float>(OpTester("Clip", 13)
                                .In(F32({3}, {-2, 0, 2}))
                                .Absent()
                                .In(F32({}, {1}))
                                .Result()),
              ElementsAre(-2, 0, 1));
}

TEST(UnaryTest, ClipReadsBoundsThatAreComputed) {
  OpTester both("Clip", 13);
  both.In(F32({2, 3}, {-2, 0, 2, 9, -9, 1}))
      .In(F32({}, {-1}))
      .In(F32({1}, {1}));
  both.ExpectPlain({0, 1, 2});
  both.ExpectPlain({0, 2});
  OpTester high("Clip", 13);
  high.In(TensorOf<int8_t>(DType::kInt8, {3}, {-2, 0, 2}))
      .Absent()
      .In(TensorOf<int8_t>(DType::kInt8, {}, {1}));
  high.ExpectPlain({0, 2});
  OpTester scalar("Clip", 13);
  scalar.In(F32({}, {5})).In(F32({1}, {7}));
  scalar.ExpectPlain({0, 1});
}

TEST(UnaryTest, ClipOfIntegersHasTheirOwnBounds) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(Values<uint64_t>(
                  OpTester("Clip", 13)
                      .In(TensorOf<uint64_t>(DType::kUint64, {3}, {0, 9, most}))
                      .In(TensorOf<uint64_t>(DType::kUint64, {}, {5}))
                      .Result()),
              ElementsAre(5, 9, most));
  EXPECT_THAT(Values<int8_t>(
                  OpTester("Clip", 13)
                      .In(TensorOf<int8_t>(DType::kInt8, {3}, {-128, 0, 127}))
                      .Absent()
                      .In(TensorOf<int8_t>(DType::kInt8, {}, {3}))
                      .Result()),
              ElementsAre(-128, 0, 3));
}

TEST(UnaryTest, ClipOfUint64TakesBoundsOfTheUpperHalf) {
  const uint64_t half = uint64_t{1} << 63;
  EXPECT_THAT(Values<uint64_t>(
                  OpTester("Clip", 13)
                      .In(TensorOf<uint64_t>(DType::kUint64, {3},
                                             {5, half + 3, half + 9}))
                      .In(TensorOf<uint64_t>(DType::kUint64, {}, {half + 1}))
                      .In(TensorOf<uint64_t>(DType::kUint64, {}, {half + 7}))
                      .Result()),
              ElementsAre(half + 1, half + 3, half + 7));
}

TEST(UnaryTest, NarrowIntegersWrapInTheirOwnWidth) {
  EXPECT_THAT(
      Values<int8_t>(OpTester("Neg", 13)
                         .In(TensorOf<int8_t>(DType::kInt8, {2}, {-128, 5}))
                         .Result()),
      ElementsAre(-128, -5));
  EXPECT_THAT(
      Values<uint8_t>(OpTester("Sign", 13)
                          .In(TensorOf<uint8_t>(DType::kUint8, {2}, {0, 200}))
                          .Result()),
      ElementsAre(0, 1));
}

TEST(UnaryTest, TestsForInfinityAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Values<uint8_t>(OpTester("IsInf", 10)
                                  .In(F32({3}, {inf, -inf, 1}))
                                  .Set("detect_negative", int64_t{0})
                                  .Result()),
              ElementsAre(1, 0, 0));
  EXPECT_THAT(Values<uint8_t>(
                  OpTester("IsNaN", 13).In(F32({2}, {inf - inf, 1})).Result()),
              ElementsAre(1, 0));
}

}  // namespace
}  // namespace reprise::cpu
