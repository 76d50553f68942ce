#include "runtime/cpu/ops/rows.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::cpu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

struct SubtractFn {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};

template <typename T>
const std::byte* Bytes(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

template <typename T>
std::vector<T> Subtract(DType dtype, DType compute, RowFn fn, const Dims& out,
                        const Dims& a_dims, const std::vector<T>& a,
                        const Dims& b_dims, const std::vector<T>& b) {
  const RowOperand inputs[] = {{dtype, compute, a_dims},
                               {dtype, compute, b_dims}};
  const RowWalk walk({dtype, compute, out}, inputs, fn);
  std::vector<T> y(static_cast<size_t>(NumElements(out).value()));
  const std::byte* const operands[] = {Bytes(a), Bytes(b)};
  walk.Run(operands, reinterpret_cast<std::byte*>(y.data()));
  return y;
}

TEST(RowsTest, OperandsAreBroadcast) {
  const auto subtract = [](const Dims& out, const Dims& a_dims,
                           const std::vector<float>& a, const Dims& b_dims,
                           const std::vector<float>& b) {
    return Subtract<float>(DType::kFp32, DType::kFp32,
                           BinaryRow<float, float, SubtractFn>, out, a_dims, a,
                           b_dims, b);
  };
  EXPECT_THAT(subtract({2, 2}, {2, 2}, {1, 2, 3, 4}, {2}, {1, 2}),
              ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(subtract({2, 2}, {2, 1}, {10, 20}, {1, 2}, {1, 2}),
              ElementsAre(9, 8, 19, 18));
  EXPECT_THAT(subtract({2, 1, 2}, {}, {5}, {2, 1, 1}, {1, 2}),
              ElementsAre(4, 4, 3, 3));
  EXPECT_THAT(subtract({1}, {1}, {5}, {1}, {1}), ElementsAre(4));
  EXPECT_THAT(subtract({0, 3}, {0, 3}, {}, {3}, {1, 2, 3}), ElementsAre());
}

TEST(RowsTest, NarrowElementsGoThroughInChunks) {
  const int64_t n = 2 * kChunk + 3;
  std::vector<int8_t> a(static_cast<size_t>(2 * n));
  std::iota(a.begin(), a.end(), int8_t{0});
  const std::vector<int8_t> twos(static_cast<size_t>(2 * n), 2);
  const RowFn fn = BinaryRow<int64_t, int64_t, SubtractFn>;
  const auto both = Subtract<int8_t>(DType::kInt8, DType::kInt64, fn, {2, n},
                                     {2, n}, a, {2, n}, twos);
  // A value that stands for a whole row is converted once.
  const auto one = Subtract<int8_t>(DType::kInt8, DType::kInt64, fn, {2, n},
                                    {2, n}, a, {2, 1}, {2, 2});
  for (size_t i = 0; i < both.size(); ++i) {
    ASSERT_EQ(both[i], static_cast<int8_t>(a[i] - 2)) << i;
    ASSERT_EQ(one[i], both[i]) << i;
  }
}

TEST(RowsTest, TheOutputMayLieInAnInput) {
  const RowOperand operand{DType::kFp32, DType::kFp32, {3}};
  const RowOperand inputs[] = {operand, operand};
  const RowWalk walk(operand, inputs, BinaryRow<float, float, SubtractFn>);
  std::vector<float> y = {5, 6, 7};
  const std::vector<float> b = {1, 1, 1};
  const std::byte* const operands[] = {Bytes(y), Bytes(b)};
  walk.Run(operands, reinterpret_cast<std::byte*>(y.data()));
  EXPECT_THAT(y, ElementsAre(4, 5, 6));
}

void ScaleRow(const Row& row) {
  for (int64_t i = 0; i < row.n; ++i) {
    row.output<double>()[i] =
        row.input<double>(0)[i * row.step[0]] * row.params.a;
  }
}

TEST(RowsTest, TheFunctionGetsItsParameters) {
  const RowOperand output{DType::kFp64, DType::kFp64, {4}};
  const RowOperand input{DType::kFp64, DType::kFp64, {}};
  const RowWalk walk(output, std::span(&input, 1), ScaleRow, {.a = 3});
  const std::vector<double> x = {2};
  std::vector<double> y(4);
  const std::byte* const operands[] = {Bytes(x)};
  walk.Run(operands, reinterpret_cast<std::byte*>(y.data()));
  EXPECT_THAT(y, Each(6));
}

}  // namespace
}  // namespace reprise::cpu
