#include "runtime/base/log.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override { SetLogOptions(before_); }

 private:
  const LogOptions before_ = GetLogOptions();
};

TEST_F(LogTest, TextIsTimeLevelAndMessage) {
  EXPECT_EQ(FormatLogLine(LogFormat::kText, LogLevel::kInfo,
                          "model loaded model=a rows=8", 1'700'000'000.25),
            "2023-11-14T22:13:20.250000Z info model loaded model=a rows=8");
}

TEST_F(LogTest, NamesEveryLevel) {
  const auto line = [](LogLevel level) {
    return FormatLogLine(LogFormat::kText, level, "x", 0);
  };
  EXPECT_THAT(line(LogLevel::kVerbose), EndsWith("Z verbose x"));
  EXPECT_THAT(line(LogLevel::kInfo), EndsWith("Z info x"));
  EXPECT_THAT(line(LogLevel::kWarning), EndsWith("Z warning x"));
  EXPECT_THAT(line(LogLevel::kError), EndsWith("Z error x"));
}

TEST_F(LogTest, AMessageWithLineFeedsStaysOneLineOfText) {
  EXPECT_THAT(FormatLogLine(LogFormat::kText, LogLevel::kInfo, "a\nb", 0),
              EndsWith("info a b"));
}

TEST_F(LogTest, JsonEscapesWhatWouldBreakIt) {
  EXPECT_EQ(
      FormatLogLine(LogFormat::kJson, LogLevel::kError, "a \"b\" \\ \n\x01", 0),
      "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"level\":\"error\","
      "\"message\":\"a \\\"b\\\" \\\\ \\u000a\\u0001\"}");
}

TEST_F(LogTest, WritesWholeLinesToStandardError) {
  CaptureStderr();
  LogInfo("one");
  LogWarning("two");
  LogError("three");
  const std::string written = GetCapturedStderr();
  EXPECT_THAT(written, HasSubstr(" info one\n"));
  EXPECT_THAT(written, HasSubstr(" warning two\n"));
  EXPECT_THAT(written, EndsWith(" error three\n"));
}

TEST_F(LogTest, ALevelThatIsOffIsSilent) {
  SetLogOptions({.info = false, .warning = false, .error = false});
  CaptureStderr();
  LogInfo("one");
  LogWarning("two");
  LogError("three");
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST_F(LogTest, VerboseLinesNeedTheirLevel) {
  SetLogOptions({.verbose_level = 2});
  CaptureStderr();
  LogVerbose(1, "one");
  LogVerbose(2, "two");
  LogVerbose(3, "three");
  const std::string written = GetCapturedStderr();
  EXPECT_THAT(written, HasSubstr("verbose one\n"));
  EXPECT_THAT(written, HasSubstr("verbose two\n"));
  EXPECT_THAT(written, Not(HasSubstr("three")));
}

TEST_F(LogTest, VerboseIsOffByDefault) {
  SetLogOptions({});
  CaptureStderr();
  LogVerbose(1, "one");
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST_F(LogTest, TheFormatIsAnOption) {
  SetLogOptions({.format = LogFormat::kJson});
  CaptureStderr();
  LogInfo("one");
  EXPECT_THAT(GetCapturedStderr(), EndsWith("\"message\":\"one\"}\n"));
}

}  // namespace
}  // namespace reprise
