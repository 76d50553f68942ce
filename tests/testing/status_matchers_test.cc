#include "tests/testing/status_matchers.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(StatusMatchersTest, IsOkLooksAtBothKinds) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(absl::StatusOr<int>(1), IsOk());
  EXPECT_THAT(absl::AbortedError("x"), Not(IsOk()));
  EXPECT_THAT(absl::StatusOr<int>(absl::AbortedError("x")), Not(IsOk()));
}

TEST(StatusMatchersTest, StatusIsComparesCodeAndMessage) {
  const absl::Status status = absl::NotFoundError("no model 'a'");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(status, Not(StatusIs(absl::StatusCode::kAborted)));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr("'a'")));
  EXPECT_THAT(status,
              Not(StatusIs(absl::StatusCode::kNotFound, HasSubstr("'b'"))));
  EXPECT_THAT(status,
              Not(StatusIs(absl::StatusCode::kAborted, HasSubstr("'a'"))));
}

TEST(StatusMatchersTest, IsOkAndHoldsComparesTheValue) {
  EXPECT_THAT(absl::StatusOr<int>(3), IsOkAndHolds(3));
  EXPECT_THAT(absl::StatusOr<int>(3), Not(IsOkAndHolds(4)));
  EXPECT_THAT(absl::StatusOr<int>(absl::AbortedError("x")),
              Not(IsOkAndHolds(3)));
}

}  // namespace
}  // namespace reprise::testing
