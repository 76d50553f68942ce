#include "runtime/prepare/canary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

Signature RowsOf(DType dtype) {
  Signature signature;
  signature.batched = true;
  signature.inputs = {
      {.name = "x", .dtype = dtype, .dims = {2}, .symbols = {""}}};
  signature.outputs = {
      {.name = "y", .dtype = dtype, .dims = {2}, .symbols = {""}}};
  return signature;
}

template <typename T>
TensorRows RowsIn(std::array<T, 8>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), 2 * sizeof(T)};
}

// Runs the canary over a model written as a function of all rows.
template <typename T = float, typename Fn>
absl::Status Check(Fn model, double between_rungs = 0) {
  const Signature signature =
      RowsOf(std::is_same_v<T, float> ? DType::kFp32 : DType::kInt64);
  const std::vector<int> rungs = {1, 2, 4};
  std::array<T, 8> x = {};  // of four rows
  std::array<T, 8> y = {};
  const TensorRows inputs = RowsIn(x);
  const TensorRows outputs = RowsIn(y);
  return CheckRowsIndependent({signature,
                               rungs,
                               {&inputs, 1},
                               {&outputs, 1},
                               [&](size_t rung) {
                                 model(x.data(), y.data(), 2 * rungs[rung]);
                                 return absl::OkStatus();
                               },
                               between_rungs});
}

TEST(CanaryTest, AcceptsRowsThatAreIndependent) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = 3 * x[i];
              }),
              IsOk());
}

TEST(CanaryTest, AcceptsARoundingThatDependsOnTheRung) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) {
                  y[i] = x[i] * (n > 4 ? 1.0F : 1.0F + 1e-6F);
                }
              }),
              IsOk());
}

TEST(CanaryTest, ADeviceSaysHowFarItsRungsMayDiffer) {
  const auto rounded = [](const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = x[i] * (n > 4 ? 1.0F : 1.01F);
  };
  EXPECT_THAT(Check(rounded), StatusIs(absl::StatusCode::kFailedPrecondition,
                                       HasSubstr("and alone")));
  EXPECT_THAT(Check(rounded, 2e-2), IsOk());
  EXPECT_THAT(Check(rounded, 5e-3),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(CanaryTest, RefusesAFloorUnderTheWholeBatch) {
  EXPECT_THAT(
      Check([](const float* x, float* y, int n) {
        const float max = *std::max_element(x, x + n);
        for (int i = 0; i < n; ++i) y[i] = std::max(x[i], max - 1);
      }),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("output 'y'")));
}

TEST(CanaryTest, RefusesWhatPoisonReaches) {
  // Rows are added with a weight too small to see, but not for a NaN.
  EXPECT_THAT(
      Check([](const float* x, float* y, int n) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += x[i];
        for (int i = 0; i < n; ++i) y[i] = x[i] + sum * 1e-9F;
      }),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("nan")));
}

TEST(CanaryTest, RefusesWhatReachesLaterRowsOnly) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                float sum = 0;
                for (int i = 0; i < n; ++i) {
                  y[i] = x[i] + sum * 1e-9F;
                  if (i % 2 == 1) sum += x[i];
                }
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("of output 'y' is nan")));
}

TEST(CanaryTest, RefusesWhatReachesARowInTheMiddle) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[i];
                if (n == 8) y[4] += x[2] * 1e-9F;
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("row 2 of output 'y' is nan")));
}

TEST(CanaryTest, RefusesWhatTheFirstRowTellsTheLast) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[i];
                y[n - 1] += n > 2 ? x[0] * 1e-9F : 0;
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("row 3 of output 'y' is nan")));
}

TEST(CanaryTest, ADivisionDoesNotHideWhereAnIntegerGoes) {
  EXPECT_THAT(Check<int64_t>([](const int64_t* x, int64_t* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[i] / 1000;
              }),
              IsOk());
  // A row takes a thousandth of its neighbour, unless that is poison.
  EXPECT_THAT(Check<int64_t>([](const int64_t* x, int64_t* y, int n) {
                for (int i = 0; i < n; ++i) {
                  const int64_t other = x[(i + 2) % n];
                  y[i] = x[i] + (other > 20'000 ? 0 : other / 1000);
                }
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("different values")));
}

TEST(CanaryTest, SamplesFillTheRowsAskedForAndNoOther) {
  std::array<float, 8> x = {};
  const TensorRows inputs = RowsIn(x);
  FillWithSamples(RowsOf(DType::kFp32), 3, {&inputs, 1});
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(x[i] == 0, i >= 6) << i;
}

TEST(CanaryTest, RefusesASwapOfRows) {
  EXPECT_THAT(Check([](const float* x, float* y, int n) {
                for (int i = 0; i < n; ++i) y[i] = x[n - 1 - i];
              }),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace reprise
