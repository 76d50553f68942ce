#include "runtime/cuda/weights.h"

#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cuda/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;

std::shared_ptr<const HostTensor> Shared(HostTensor tensor) {
  return std::make_shared<const HostTensor>(std::move(tensor));
}

TEST(CudaWeightsTest, ATensorIsThereOnceForEachType) {
  CudaWeights weights;
  const auto a = Shared(F32({3}, {1, 2, 3}));
  const auto b = Shared(F32({3}, {1, 2, 3}));
  EXPECT_EQ(weights.Add(a, DType::kFp32).value(), 0);
  EXPECT_EQ(weights.Add(a, DType::kFp16).value(), 1);
  EXPECT_EQ(weights.Add(b, DType::kFp32).value(), 2);
  EXPECT_EQ(weights.Add(a, DType::kFp32).value(), 0);
  EXPECT_EQ(weights.Add(a, DType::kFp16).value(), 1);
  EXPECT_EQ(weights.size(), 3);
  EXPECT_EQ(weights.entry(0).data, a->bytes().data());
}

TEST(CudaWeightsTest, EntriesLieInASlabAlignedAndNeverMove) {
  CudaWeights weights;
  EXPECT_EQ(weights.bytes(), 0);
  ASSERT_EQ(weights.Add(Shared(Noise({65}, 1)), DType::kFp32).value(), 0);
  const std::byte* const first = weights.entry(0).data;
  EXPECT_EQ(weights.bytes(), 512);
  EXPECT_EQ(weights.AddBytes("table", std::vector<std::byte>(3)), 1);
  EXPECT_EQ(weights.Add(Shared(Noise({0}, 1)), DType::kFp32).value(), 2);
  EXPECT_EQ(weights.entry(0).data, first);
  EXPECT_EQ(weights.entry(0).bytes, 260);
  EXPECT_EQ(weights.entry(1).offset, 512);
  EXPECT_EQ(weights.entry(1).bytes, 3);
  EXPECT_EQ(weights.entry(2).bytes, 0);
  EXPECT_EQ(weights.entry(2).data, nullptr);
  EXPECT_EQ(weights.bytes(), 768);
}

template <typename T>
std::vector<float> As(DType dtype, const std::vector<float>& values) {
  CudaWeights weights;
  const auto index = weights.Add(
      Shared(F32({static_cast<int64_t>(values.size())}, values)), dtype);
  const CudaWeights::Entry& entry = weights.entry(index.value());
  std::vector<T> converted(values.size());
  EXPECT_EQ(static_cast<size_t>(entry.bytes), values.size() * sizeof(T));
  std::memcpy(converted.data(), entry.data, values.size() * sizeof(T));
  return {converted.begin(), converted.end()};
}

TEST(CudaWeightsTest, WhatDoesNotFitBecomesTheLargestThatDoes) {
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(As<Half>(DType::kFp16, {1.5F, -kMax, kMax, 65519, kInf, -kInf}),
              ElementsAre(1.5F, -65504, 65504, 65504, kInf, -kInf));
  EXPECT_THAT(As<BFloat16>(DType::kBf16, {1.5F, -kMax, kMax, kInf}),
              ElementsAre(1.5F, -0x1.FEp127F, 0x1.FEp127F, kInf));
  EXPECT_THAT(As<Half>(DType::kFp16, {std::numeric_limits<float>::quiet_NaN()}),
              ElementsAre(::testing::IsNan()));
}

TEST(CudaWeightsTest, OnlyFp32IsConverted) {
  CudaWeights weights;
  EXPECT_THAT(weights.Add(Shared(I64({1}, {1})), DType::kFp16),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(weights.Add(Shared(Noise({1}, 1)), DType::kFp64),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(weights.size(), 0);
}

TEST(CudaWeightsTest, AKeyIsOneEntry) {
  CudaWeights weights;
  EXPECT_EQ(weights.AddBytes("a", {std::byte{1}}), 0);
  EXPECT_EQ(weights.AddBytes("b", {std::byte{2}}), 1);
  EXPECT_EQ(weights.AddBytes("a", {std::byte{3}}), 0);
  EXPECT_EQ(*weights.entry(0).data, std::byte{1});
}

TEST(CudaWeightsTest, HostCopiesCanBeDroppedAndTensorsStay) {
  CudaWeights weights;
  const auto tensor = Shared(Noise({4}, 1));
  ASSERT_EQ(weights.Add(tensor, DType::kFp32).value(), 0);
  ASSERT_EQ(weights.Add(tensor, DType::kFp16).value(), 1);
  weights.AddBytes("a", {std::byte{1}});
  weights.DropHostCopies();
  EXPECT_EQ(weights.entry(0).data, tensor->bytes().data());
  EXPECT_EQ(weights.entry(1).data, nullptr);
  EXPECT_EQ(weights.entry(2).data, nullptr);
  EXPECT_EQ(weights.Add(tensor, DType::kFp16).value(), 1);
}

}  // namespace
}  // namespace reprise::cuda
