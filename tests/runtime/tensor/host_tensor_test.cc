#include "runtime/tensor/host_tensor.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/string_ref.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AlignedBufferTest, ABlockThatIsNotToBeHadIsAnError) {
  for (const size_t bytes : {std::numeric_limits<size_t>::max(),
                             std::numeric_limits<size_t>::max() / 2}) {
    EXPECT_EQ(AlignedBuffer::Create(bytes).status().code(),
              absl::StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(
      HostTensor::Create(DType::kUint8, {int64_t{1} << 62}).status().code(),
      absl::StatusCode::kResourceExhausted);
  const auto small = AlignedBuffer::Create(100);
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_EQ(small->size(), 100);
  EXPECT_EQ(small->data()[99], std::byte{0});
}

TEST(AlignedBufferTest, IsAlignedAndZero) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{1000}}) {
    const AlignedBuffer buffer(bytes);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_THAT(std::span(buffer.data(), bytes), Each(std::byte{0}));
  }
}

TEST(HostTensorTest, IsZeroedAndHasRoomForItsElements) {
  const auto tensor = HostTensor::Create(DType::kInt32, {2, 3});
  ASSERT_THAT(tensor, IsOk());
  EXPECT_EQ(tensor->dtype(), DType::kInt32);
  EXPECT_THAT(tensor->dims(), ElementsAre(2, 3));
  EXPECT_EQ(tensor->elements(), 6);
  EXPECT_EQ(tensor->bytes().size(), 24u);
  EXPECT_THAT(tensor->values<int32_t>(), Each(0));
}

TEST(HostTensorTest, HoldsScalarsAndEmptyTensors) {
  const auto scalar = HostTensor::Create(DType::kFp64, {});
  ASSERT_THAT(scalar, IsOk());
  EXPECT_EQ(scalar->elements(), 1);
  const auto empty = HostTensor::Create(DType::kFp32, {4, 0});
  ASSERT_THAT(empty, IsOk());
  EXPECT_EQ(empty->elements(), 0);
  EXPECT_EQ(HostTensor().elements(), 0);
}

TEST(HostTensorTest, KeepsValuesWhenMoved) {
  auto tensor = HostTensor::Create(DType::kFp32, {3});
  ASSERT_THAT(tensor, IsOk());
  tensor->values<float>()[1] = 2.5f;
  const HostTensor moved = *std::move(tensor);
  EXPECT_THAT(moved.values<float>(), ElementsAre(0.0f, 2.5f, 0.0f));
}

TEST(HostTensorTest, RefusesDimsThatAreNone) {
  EXPECT_THAT(
      HostTensor::Create(DType::kFp32, {2, kFreeDim}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("[2,-1]")));
  EXPECT_THAT(HostTensor::Create(DType::kFp64, {int64_t{1} << 61}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("too many bytes")));
}

TEST(HostTensorTest, OwnsTheTextOfItsStrings) {
  auto tensor =
      HostTensor::FromStrings({2}, {std::string("a\0b", 3), std::string()});
  ASSERT_THAT(tensor, IsOk());
  const HostTensor moved = *std::move(tensor);
  EXPECT_EQ(moved.elements(), 2);
  const std::span<const StringRef> refs = moved.values<StringRef>();
  EXPECT_EQ(std::string(refs[0].data, refs[0].size), std::string("a\0b", 3));
  EXPECT_EQ(refs[1].size, 0u);
}

TEST(HostTensorTest, RefusesTheWrongNumberOfStrings) {
  EXPECT_THAT(HostTensor::FromStrings({2, 2}, {"a"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1 strings for shape [2,2]")));
}

}  // namespace
}  // namespace reprise
