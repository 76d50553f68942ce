#include "runtime/cpu/dispatch.h"

#include <cmath>

#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

// The size of the type that a dtype leads to, below 0 for one with a sign.
constexpr auto kSize = [](auto tag) -> absl::StatusOr<int> {
  using T = typename decltype(tag)::type;
  const int size = sizeof(T);
  if constexpr (std::is_signed_v<T>) return -size;
  return size;
};

TEST(DispatchTest, EachDtypeLeadsToItsType) {
  EXPECT_THAT(VisitNumber(DType::kUint8, kSize), IsOkAndHolds(1));
  EXPECT_THAT(VisitNumber(DType::kUint16, kSize), IsOkAndHolds(2));
  EXPECT_THAT(VisitNumber(DType::kUint32, kSize), IsOkAndHolds(4));
  EXPECT_THAT(VisitNumber(DType::kUint64, kSize), IsOkAndHolds(8));
  EXPECT_THAT(VisitNumber(DType::kInt8, kSize), IsOkAndHolds(-1));
  EXPECT_THAT(VisitNumber(DType::kInt16, kSize), IsOkAndHolds(-2));
  EXPECT_THAT(VisitNumber(DType::kInt32, kSize), IsOkAndHolds(-4));
  EXPECT_THAT(VisitNumber(DType::kInt64, kSize), IsOkAndHolds(-8));
  EXPECT_THAT(VisitNumber(DType::kFp32, kSize), IsOkAndHolds(-4));
  EXPECT_THAT(VisitNumber(DType::kFp64, kSize), IsOkAndHolds(-8));
  EXPECT_THAT(VisitNumberOrBool(DType::kBool, kSize), IsOkAndHolds(1));
  EXPECT_THAT(VisitIndex(DType::kInt64, kSize), IsOkAndHolds(-8));
  const auto is_half = [](auto tag) -> absl::StatusOr<bool> {
    return std::is_same_v<typename decltype(tag)::type, Half>;
  };
  EXPECT_THAT(VisitFloat(DType::kFp16, is_half), IsOkAndHolds(true));
  EXPECT_THAT(VisitFloat(DType::kBf16, is_half), IsOkAndHolds(false));
}

TEST(DispatchTest, OtherDtypesAreRefusedByName) {
  EXPECT_THAT(VisitFloat(DType::kInt8, kSize),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("INT8")));
  EXPECT_THAT(VisitInteger(DType::kFp16, kSize),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("FP16")));
  EXPECT_THAT(VisitNumber(DType::kBool, kSize),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("BOOL")));
  EXPECT_THAT(VisitIndex(DType::kUint8, kSize),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("UINT8")));
}

TEST(DispatchTest, WhatIsOnlyMovedGoesByItsSize) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_THAT(VisitBytes(dtype, kSize),
                IsOkAndHolds(static_cast<int>(ElementSize(dtype))))
        << DTypeName(dtype);
  }
}

TEST(DispatchTest, OnlyFloatsAreNan) {
  EXPECT_TRUE(IsNan(std::nanf("")));
  EXPECT_FALSE(IsNan(1.0));
  EXPECT_FALSE(IsNan(0));
}

}  // namespace
}  // namespace reprise::cpu
