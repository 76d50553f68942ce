#include "runtime/tensor/shape.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(ShapeTest, MultipliesDims) {
  EXPECT_THAT(NumElements(Dims{2, 3, 4}), IsOkAndHolds(24));
  EXPECT_THAT(NumElements(Dims{}), IsOkAndHolds(1));
  EXPECT_THAT(NumElements(Dims{5, 0, 7}), IsOkAndHolds(0));
  EXPECT_EQ(ElementCount(Dims{2, 3, 4}), 24);
  EXPECT_EQ(ElementCount(Dims{}), 1);
}

TEST(ShapeTest, RefusesANegativeDim) {
  EXPECT_THAT(NumElements(Dims{2, -1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("negative dim in shape [2,-1]")));
  EXPECT_THAT(NumElements(Dims{0, -1}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ShapeTest, FindsTheProductThatPassesTheLimit) {
  EXPECT_THAT(NumElements(Dims{kMax}), IsOkAndHolds(kMax));
  EXPECT_THAT(NumElements(Dims{kMax, 1}), IsOkAndHolds(kMax));
  EXPECT_THAT(NumElements(Dims{kMax, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("too many elements")));
  EXPECT_THAT(NumElements(Dims{int64_t{1} << 32, int64_t{1} << 32}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ShapeTest, CountsBytes) {
  EXPECT_THAT(NumBytes(DType::kFp32, Dims{3, 5}), IsOkAndHolds(60));
  EXPECT_THAT(NumBytes(DType::kBool, Dims{kMax}), IsOkAndHolds(kMax));
  EXPECT_THAT(NumBytes(DType::kFp16, Dims{kMax}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("too many bytes")));
}

TEST(ShapeTest, PrintsDims) {
  EXPECT_EQ(DimsText(Dims{}), "[]");
  EXPECT_EQ(DimsText(Dims{1, 3, -1}), "[1,3,-1]");
}

TEST(ShapeTest, StridesAreRowMajor) {
  EXPECT_THAT(Strides(Dims{2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_THAT(Strides(Dims{9}), ElementsAre(1));
  EXPECT_THAT(Strides(Dims{}), IsEmpty());
}

}  // namespace
}  // namespace reprise
