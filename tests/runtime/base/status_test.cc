#include "runtime/base/status.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::StatusIs;

TEST(AnnotateTest, PutsTheContextInFrontAndKeepsTheCode) {
  const absl::Status status =
      Annotate(absl::NotFoundError("no such tensor"), "model 'a'");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               std::string("model 'a': no such tensor")));
}

TEST(AnnotateTest, NestsFromTheInsideOut) {
  const absl::Status inner = Annotate(absl::InternalError("x"), "node 3");
  EXPECT_EQ(Annotate(inner, "model a").message(), "model a: node 3: x");
}

TEST(AnnotateTest, KeepsPayloads) {
  absl::Status status = absl::UnavailableError("busy");
  status.SetPayload("reprise/pushback", absl::Cord("250"));
  status.SetPayload("reprise/other", absl::Cord("x"));

  const absl::Status out = Annotate(status, "queue");

  EXPECT_EQ(out.GetPayload("reprise/pushback"), absl::Cord("250"));
  EXPECT_EQ(out.GetPayload("reprise/other"), absl::Cord("x"));
}

TEST(AnnotateTest, LeavesOkAlone) {
  EXPECT_THAT(Annotate(absl::OkStatus(), "model a"), IsOk());
}

absl::StatusOr<int> Half(int n) {
  if (n % 2 != 0) return absl::InvalidArgumentError("odd");
  return n / 2;
}

absl::StatusOr<int> Quarter(int n) {
  REPRISE_ASSIGN_OR_RETURN(const int half, Half(n));
  REPRISE_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

TEST(StatusMacrosTest, AssignsOrReturnsTheFirstError) {
  EXPECT_THAT(Quarter(12), IsOkAndHolds(3));
  EXPECT_THAT(Quarter(6), StatusIs(absl::StatusCode::kInvalidArgument));
}

absl::StatusOr<std::unique_ptr<int>> Boxed(int n) {
  return std::make_unique<int>(n);
}

absl::StatusOr<int> Unboxed(int n) {
  REPRISE_ASSIGN_OR_RETURN(const std::unique_ptr<int> box, Boxed(n));
  return *box;
}

TEST(StatusMacrosTest, AssignsWhatCanOnlyBeMoved) {
  EXPECT_THAT(Unboxed(7), IsOkAndHolds(7));
}

absl::Status Both(const absl::Status& first, int& calls) {
  REPRISE_RETURN_IF_ERROR(first);
  ++calls;
  return absl::OkStatus();
}

TEST(StatusMacrosTest, ReturnsOnlyOnError) {
  int calls = 0;
  EXPECT_THAT(Both(absl::OkStatus(), calls), IsOk());
  EXPECT_THAT(Both(absl::AbortedError("stop"), calls),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace reprise
