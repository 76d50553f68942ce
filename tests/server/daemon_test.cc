#include "server/daemon.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;

TEST(DaemonTest, HelpAndVersionAreAnsweredAtOnce) {
  ::testing::internal::CaptureStdout();
  const std::vector<const char*> help = {"--help"};
  EXPECT_EQ(RunDaemon(help), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("--model-repository=DIR"));
  ::testing::internal::CaptureStdout();
  const std::vector<const char*> version = {"--version"};
  EXPECT_EQ(RunDaemon(version), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr(absl::StrCat("reprised ", ProgramVersion())));
}

TEST(DaemonTest, BadFlagsAreLinesAndExitCodeTwo) {
  ::testing::internal::CaptureStderr();
  const std::vector<const char*> args = {"--grpc-port=x", "--nope"};
  EXPECT_EQ(RunDaemon(args), 2);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("reprised: --grpc-port=x: expected a whole "
                              "number\n"));
  EXPECT_THAT(text, HasSubstr("reprised: unknown flag --nope"));
  EXPECT_THAT(text, HasSubstr("reprised: nothing to serve"));
}

TEST(DaemonTest, HealthIsASubcommand) {
  ::testing::internal::CaptureStderr();
  const std::vector<const char*> args = {"health", "127.0.0.1:1",
                                         "--connect-timeout=0.1"};
  EXPECT_EQ(RunDaemon(args), 2);
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace reprise::testing
