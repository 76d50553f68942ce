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
  ~LogTest() override { SetLogOptions(LogOptions()); }
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

TEST_F(LogTest, AMessageWithControlCharactersStaysOneLineOfText) {
  EXPECT_THAT(FormatLogLine(LogFormat::kText, LogLevel::kInfo, "a\nb", 0),
              EndsWith("info a b"));
  EXPECT_THAT(
      FormatLogLine(LogFormat::kText, LogLevel::kInfo, "a\x1b[2J\rb", 0),
      EndsWith("info a [2J b"));
}

TEST_F(LogTest, JsonEscapesWhatWouldBreakIt) {
  EXPECT_EQ(
      FormatLogLine(LogFormat::kJson, LogLevel::kError, "a \"b\" \\ \n\x01", 0),
      "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"level\":\"error\","
      "\"message\":\"a \\\"b\\\" \\\\ \\u000a\\u0001\"}");
}

TEST_F(LogTest, InJsonThePairsAtTheEndAreFields) {
  const auto json = [](absl::string_view message) {
    const std::string line =
        FormatLogLine(LogFormat::kJson, LogLevel::kInfo, message, 0);
    return line.substr(line.find("\"message\""));
  };
  EXPECT_EQ(json("model ready model=a version=2 seconds=0.5 ladder=1,2"),
            R"("message":"model ready","model":"a","version":2,"seconds":0.5,)"
            R"("ladder":"1,2"})");
  EXPECT_EQ(json("failed reason=\"no \\\"x\\\" here\" id='a b' n=-1e-05"),
            R"("message":"failed","reason":"no \"x\" here","id":"a b",)"
            R"("n":-1e-05})");
}

TEST_F(LogTest, AValueMayHoldAnyText) {
  EXPECT_EQ(LogValue("no \"x\" in C:\\"), R"("no \"x\" in C:\\")");
  for (const std::string text : {"", "plain", "two words", "a=1 b=2",
                                 R"(node "x" 'y')", R"(\ at "end\)"}) {
    std::string json;
    for (const char c : text) {
      if (c == '"' || c == '\\') json.push_back('\\');
      json.push_back(c);
    }
    EXPECT_THAT(
        FormatLogLine(LogFormat::kJson, LogLevel::kInfo,
                      "failed reason=" + LogValue(text) + " n=1", 0),
        EndsWith(R"("message":"failed","reason":")" + json + R"(","n":1})"));
  }
}

TEST_F(LogTest, ANameIsQuotedWhereItWouldBreakItsPair) {
  EXPECT_EQ(LogName("simple"), "simple");
  EXPECT_EQ(LogName("größe.v1/2"), "größe.v1/2");
  for (const std::string name : {"", "a b", "a=b", "a\tb", "'a'", "12"}) {
    EXPECT_EQ(LogName(name), "\"" + name + "\"");
  }
  EXPECT_THAT(FormatLogLine(LogFormat::kJson, LogLevel::kInfo,
                            "model ready model=" + LogName("a version=7"), 0),
              EndsWith(R"("message":"model ready","model":"a version=7"})"));
}

TEST_F(LogTest, BytesThatAreNotUtf8AreShown) {
  EXPECT_THAT(FormatLogLine(LogFormat::kJson, LogLevel::kInfo,
                            "bad \xff name=\"\xc3\"", 0),
              EndsWith(R"("message":"bad \\xff","name":"\\xc3"})"));
  EXPECT_THAT(FormatLogLine(LogFormat::kText, LogLevel::kInfo, "bad \xff", 0),
              EndsWith("bad \\xff"));
}

TEST_F(LogTest, InJsonWhatOnlyLooksLikeAPairStaysInTheMessage) {
  for (const std::string message :
       {"option --grpc-port=8001", "a=1 is not b", "x y=1, z", "x k='open",
        "one message=two", "a Big=1", "pairs first=1 then words", "", " ",
        "x =", "x a=1  "}) {
    EXPECT_THAT(FormatLogLine(LogFormat::kJson, LogLevel::kInfo, message, 0),
                EndsWith("\"message\":\"" + message + "\"}"));
  }
  EXPECT_THAT(FormatLogLine(LogFormat::kJson, LogLevel::kInfo, "x n=007", 0),
              HasSubstr(R"("n":"007")"));
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
