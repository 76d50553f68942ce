#include "server/grpc/listen.h"

#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;

TEST(ListenTest, TargetsAreWrittenAsGrpcReadsThem) {
  EXPECT_EQ(TargetOf("127.0.0.1", 1), "127.0.0.1:1");
  EXPECT_EQ(TargetOf("::", 1), "[::]:1");
  EXPECT_EQ(TargetOf("[::1]", 1), "[::1]:1");
  EXPECT_EQ(TargetOf("unix:/tmp/s", 1), "unix:/tmp/s");
}

TEST(ListenTest, TheReasonIsFoundByTrying) {
  EXPECT_THAT(WhyNotListening({"192.0.2.1", 8001, "gRPC"}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("cannot listen on 192.0.2.1:8001 for gRPC: "
                                 "Cannot assign requested address")));
  EXPECT_THAT(WhyNotListening({"unix:/no/such/folder/s", 0, "gRPC"}),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace reprise::testing
