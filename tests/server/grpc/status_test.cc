#include "server/grpc/status.h"

#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

TEST(StatusTest, EveryCodeGoesThereAndBack) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "text");
    EXPECT_EQ(ToGrpc(status).error_code(), code);
    EXPECT_EQ(FromGrpc(ToGrpc(status)), status);
  }
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
}

TEST(StatusTest, ATextThatIsTooLongIsCut) {
  const grpc::Status status =
      ToGrpc(absl::InternalError(std::string(100000, 'x')));
  EXPECT_EQ(status.error_message().size(), 2048u);
}

TEST(StatusTest, PushbackIsWholeMillisecondsAndAtLeastOne) {
  EXPECT_EQ(PushbackText(absl::ZeroDuration()), "1");
  EXPECT_EQ(PushbackText(absl::Microseconds(2001)), "3");
  EXPECT_EQ(PushbackText(absl::Seconds(2)), "2000");
}

TEST(StatusTest, CodesHaveTheirGrpcNames) {
  EXPECT_EQ(CodeName(absl::StatusCode::kOk), "OK");
  EXPECT_EQ(CodeName(absl::StatusCode::kResourceExhausted),
            "RESOURCE_EXHAUSTED");
}

}  // namespace
}  // namespace reprise::testing
