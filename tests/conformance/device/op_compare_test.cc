#include "tests/conformance/device/op_compare.h"

#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/device/op_values.h"

namespace reprise::conformance {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

HostTensor Floats(Dims dims, const std::vector<float>& values) {
  HostTensor tensor = HostTensor::Create(DType::kFp32, std::move(dims)).value();
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.values<float>()[i] = values[i];
  }
  return tensor;
}

TEST(OpCompareTest, NamesTheFirstDifferenceByRowAndElement) {
  const HostTensor want = Floats({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(FirstDifference(want, want, {}, 2), "");
  const HostTensor got = Floats({2, 3}, {0, 1, 2, 3, 4.5F, 6});
  EXPECT_EQ(FirstDifference(got, want, {}, 2),
            "row 1, element 1: got 4.5, want 4");
  EXPECT_EQ(FirstDifference(got, want, {}, 0), "element 4: got 4.5, want 4");
  EXPECT_EQ(FirstDifference(got, want, {.relative = 0, .absolute = 1}, 2), "");
  EXPECT_EQ(FirstDifference(got, want, {.relative = 0.15}, 2),
            "row 1, element 2: got 6, want 5");
}

TEST(OpCompareTest, WhatIsNoNumberMustBeTheSame) {
  const Tolerance wide{1, 1};
  const HostTensor want = Floats({3}, {kNan, kInf, 1});
  EXPECT_EQ(FirstDifference(Floats({3}, {-kNan, kInf, 1}), want, wide, 0), "");
  EXPECT_NE(FirstDifference(Floats({3}, {0, kInf, 1}), want, wide, 0), "");
  EXPECT_NE(FirstDifference(Floats({3}, {kNan, -kInf, 1}), want, wide, 0), "");
  EXPECT_NE(FirstDifference(Floats({3}, {kNan, kInf, kNan}), want, wide, 0),
            "");
}

TEST(OpCompareTest, IntegersAreEqualOrDiffer) {
  HostTensor want = HostTensor::Create(DType::kInt32, {2}).value();
  HostTensor got = HostTensor::Create(DType::kInt32, {2}).value();
  EXPECT_EQ(FirstDifference(got, want, {1, 1}, 0), "");
  got.values<int32_t>()[1] = 1;
  EXPECT_EQ(FirstDifference(got, want, {1, 1}, 0), "element 1: got 1, want 0");
}

TEST(OpCompareTest, DimsAndTypesAreCompared) {
  EXPECT_THAT(FirstDifference(Floats({2}, {}), Floats({1, 2}, {}), {}, 0),
              HasSubstr("got FP32[2], want FP32[1,2]"));
}

TEST(OpCompareTest, EveryTypeHasItsTolerance) {
  EXPECT_EQ(ToleranceOf(DType::kInt64, "fp32").absolute, 0);
  EXPECT_LT(ToleranceOf(DType::kFp64, "fp32").relative, 1e-6);
  EXPECT_EQ(ToleranceOf(DType::kFp32, "fp32").absolute, 2e-4);
  EXPECT_EQ(ToleranceOf(DType::kFp32, "tf32").relative, 2e-3);
  EXPECT_EQ(ToleranceOf(DType::kFp32, "fp16").absolute, 2e-3);
  EXPECT_EQ(ToleranceOf(DType::kFp32, "bf16").relative, 2e-2);
}

TEST(OpValuesTest, ElementsAreTheSameForASeedAndWithinBounds) {
  const Operand operand{.dtype = DType::kFp16,
                        .dims = {kFreeDim, 50},
                        .values = {.low = -1, .high = 1, .step = 0.25}};
  const HostTensor a = MakeOperand(operand, 3, 7);
  const HostTensor b = MakeOperand(operand, 3, 7);
  ASSERT_EQ(a.dims(), (Dims{3, 50}));
  bool differs = false;
  for (size_t i = 0; i < 150; ++i) {
    EXPECT_EQ(NumberAt(a, i), NumberAt(b, i));
    EXPECT_GE(NumberAt(a, i), -1);
    EXPECT_LE(NumberAt(a, i), 1);
    differs = differs || NumberAt(a, i) != NumberAt(a, 0);
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace reprise::conformance
