#include "runtime/cpu/ops/convert.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"

namespace reprise::cpu {
namespace {

using ::testing::ElementsAre;

template <typename To, typename From>
std::vector<To> Convert(DType from, DType to, const std::vector<From>& values) {
  std::vector<To> out(values.size());
  Converter(from, to).Gather(reinterpret_cast<const std::byte*>(values.data()),
                             1, reinterpret_cast<std::byte*>(out.data()),
                             static_cast<int64_t>(values.size()));
  return out;
}

TEST(ConvertTest, ComputeTypesAreWideEnough) {
  EXPECT_EQ(ComputeTypeOf(DType::kFp16), DType::kFp32);
  EXPECT_EQ(ComputeTypeOf(DType::kInt32), DType::kInt32);
  EXPECT_EQ(ComputeTypeOf(DType::kInt8), DType::kInt32);
  EXPECT_EQ(ComputeTypeOf(DType::kUint16), DType::kInt32);
  EXPECT_EQ(ComputeTypeOf(DType::kInt64), DType::kInt64);
  EXPECT_EQ(ComputeTypeOf(DType::kUint32), DType::kUint64);
  EXPECT_EQ(CarrierOf(DType::kFp32), DType::kFp64);
  EXPECT_EQ(CarrierOf(DType::kBool), DType::kInt64);
}

TEST(ConvertTest, EveryPairOfDtypesConverts) {
  const DType all[] = {DType::kBool,   DType::kUint8,  DType::kUint16,
                       DType::kUint32, DType::kUint64, DType::kInt8,
                       DType::kInt16,  DType::kInt32,  DType::kInt64,
                       DType::kFp16,   DType::kFp32,   DType::kFp64,
                       DType::kBf16};
  for (const DType from : all) {
    std::vector<uint64_t> one(1);
    auto* bytes = reinterpret_cast<std::byte*>(one.data());
    const int64_t value = 1;
    Converter(DType::kInt64, from)
        .Gather(reinterpret_cast<const std::byte*>(&value), 1, bytes, 1);
    for (const DType to : all) {
      std::vector<uint64_t> made(1);
      Converter(from, to).Gather(bytes, 1,
                                 reinterpret_cast<std::byte*>(made.data()), 1);
      int64_t back = 0;
      Converter(to, DType::kInt64)
          .Gather(reinterpret_cast<const std::byte*>(made.data()), 1,
                  reinterpret_cast<std::byte*>(&back), 1);
      EXPECT_EQ(back, 1) << DTypeName(from) << " to " << DTypeName(to);
    }
  }
}

TEST(ConvertTest, FloatsAreClampedAndIntegersCutOff) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT((Convert<int8_t, float>(DType::kFp32, DType::kInt8,
                                      {300, -300, nan, -1.9F})),
              ElementsAre(127, -128, 0, -1));
  EXPECT_THAT(
      (Convert<uint64_t, double>(DType::kFp64, DType::kUint64, {1e30, -1})),
      ElementsAre(std::numeric_limits<uint64_t>::max(), 0));
  EXPECT_THAT(
      (Convert<int8_t, int64_t>(DType::kInt64, DType::kInt8, {300, -129})),
      ElementsAre(44, 127));
  EXPECT_THAT((Convert<uint64_t, int8_t>(DType::kInt8, DType::kUint64, {-1})),
              ElementsAre(std::numeric_limits<uint64_t>::max()));
}

TEST(ConvertTest, LargeIntegersStayExact) {
  const int64_t large = (int64_t{1} << 62) + 1;
  EXPECT_THAT(
      (Convert<uint64_t, int64_t>(DType::kInt64, DType::kUint64, {large})),
      ElementsAre(static_cast<uint64_t>(large)));
  EXPECT_THAT((Convert<uint32_t, uint64_t>(DType::kUint64, DType::kUint32,
                                           {uint64_t{1} << 33 | 7})),
              ElementsAre(7));
}

TEST(ConvertTest, AnyByteButZeroIsTrue) {
  EXPECT_THAT((Convert<float, uint8_t>(DType::kBool, DType::kFp32, {0, 1, 9})),
              ElementsAre(0, 1, 1));
  EXPECT_THAT(
      (Convert<uint8_t, float>(DType::kFp32, DType::kBool, {0, -0.5F, 2})),
      ElementsAre(0, 1, 1));
}

TEST(ConvertTest, StridesOnEitherSide) {
  const std::vector<int16_t> from = {1, 2, 3, 4, 5, 6};
  std::vector<float> to(6, -1);
  const Converter converter(DType::kInt16, DType::kFp32);
  converter.Gather(reinterpret_cast<const std::byte*>(from.data()), 2,
                   reinterpret_cast<std::byte*>(to.data()), 3);
  EXPECT_THAT(to, ElementsAre(1, 3, 5, -1, -1, -1));
  converter.Scatter(reinterpret_cast<const std::byte*>(from.data()),
                    reinterpret_cast<std::byte*>(to.data()), 2, 3);
  EXPECT_THAT(to, ElementsAre(1, 3, 2, -1, 3, -1));
  // Backwards.
  converter.Gather(reinterpret_cast<const std::byte*>(from.data() + 5), -1,
                   reinterpret_cast<std::byte*>(to.data()), 3);
  EXPECT_THAT(to, ElementsAre(6, 5, 4, -1, 3, -1));
}

TEST(ConvertTest, LongRowsGoThroughInChunks) {
  std::vector<uint16_t> from(3 * kChunk + 5);
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<uint16_t>(i);
  }
  const auto to = Convert<double, uint16_t>(DType::kUint16, DType::kFp64, from);
  const auto half = Convert<Half, uint16_t>(DType::kUint16, DType::kFp16, from);
  for (size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(to[i], static_cast<double>(i));
    ASSERT_EQ(static_cast<float>(half[i]), static_cast<float>(i));
  }
}

TEST(ConvertTest, ElementsAreReadWhereTheyLieIfTheyMay) {
  const std::vector<float> from = {1, 2, 3};
  const auto* bytes = reinterpret_cast<const std::byte*>(from.data());
  ChunkBuffer buffer;
  const Converter same(DType::kFp32, DType::kFp32);
  EXPECT_TRUE(same.copies());
  EXPECT_EQ(same.Read(bytes, 1, 3, buffer), bytes);
  EXPECT_EQ(same.Read(bytes, 2, 2, buffer), buffer.data());
  const Converter other(DType::kFp32, DType::kFp64);
  EXPECT_EQ(other.Read(bytes, 1, 3, buffer), buffer.data());
  EXPECT_EQ(reinterpret_cast<const double*>(buffer.data())[2], 3);
}

}  // namespace
}  // namespace reprise::cpu
