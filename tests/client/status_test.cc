#include "client/status.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::StatusIs;

TEST(StatusTest, KeepsCodeAndMessageOfTheServer) {
  EXPECT_THAT(FromGrpc({grpc::StatusCode::RESOURCE_EXHAUSTED, "queue is full"}),
              StatusIs(absl::StatusCode::kResourceExhausted, "queue is full"));
  EXPECT_THAT(FromGrpc(grpc::Status::OK), IsOk());
}

TEST(StatusTest, TellsTheServersErrorsFromItsOwn) {
  EXPECT_TRUE(IsRpcError(FromGrpc({grpc::StatusCode::NOT_FOUND, "no model"})));
  EXPECT_FALSE(IsRpcError(absl::NotFoundError("no file")));
  EXPECT_FALSE(IsRpcError(absl::OkStatus()));
}

TEST(StatusTest, AnnotateKeepsCodeAndMark) {
  const absl::Status status =
      Annotate(FromGrpc({grpc::StatusCode::INTERNAL, "broken"}), "digits");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal, "digits: broken"));
  EXPECT_TRUE(IsRpcError(status));
  EXPECT_THAT(Annotate(absl::OkStatus(), "digits"), IsOk());
}

}  // namespace
}  // namespace reprise::client
