#include "server/grpc/status.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(StatusTest, EveryCodeGoesThereAndBack) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "text");
    EXPECT_EQ(ToGrpc(status).error_code(), code);
    EXPECT_EQ(FromGrpc(ToGrpc(status)), status);
  }
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
}

TEST(StatusTest, ATextThatIsTooLongLosesItsMiddle) {
  const std::string text =
      "name '" + std::string(100000, 'x') + "' is too long";
  const std::string cut = ToGrpc(absl::InternalError(text)).error_message();
  EXPECT_THAT(cut, AllOf(StartsWith("name 'xxx"), HasSubstr("xxx...xxx"),
                         EndsWith("xxx' is too long")));
  EXPECT_LE(cut.size(), 2048u);
  EXPECT_GE(cut.size(), 2000u);
  const std::string fits(2048, 'x');
  EXPECT_EQ(ToGrpc(absl::InternalError(fits)).error_message(), fits);
}

TEST(StatusTest, ATextIsUtf8WhateverItNames) {
  EXPECT_EQ(ToGrpc(absl::InternalError("file '\xff'")).error_message(),
            "file '\\xff'");
}

TEST(StatusTest, ATextIsCutBetweenCharacters) {
  const std::string character = "\u20ac";
  for (const char* const first : {"", "x", "xx"}) {
    std::string text = first;
    for (int i = 0; i < 1000; ++i) text += character;
    std::string cut = ToGrpc(absl::InternalError(text)).error_message();
    EXPECT_LE(cut.size(), 2048u);
    cut.erase(0, std::string(first).size());
    const std::vector<std::string> parts = absl::StrSplit(cut, "...");
    ASSERT_EQ(parts.size(), 2u);
    for (const std::string& part : parts) {
      EXPECT_EQ(absl::StrReplaceAll(part, {{character, ""}}), "");
    }
  }
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
