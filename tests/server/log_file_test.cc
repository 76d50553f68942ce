#include "server/log_file.h"

#include <unistd.h>

#include <fstream>
#include <iterator>

#include "runtime/base/log.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LogFileTest : public ::testing::Test {
 protected:
  ~LogFileTest() override {
    dup2(stderr_, STDERR_FILENO);
    close(stderr_);
  }

 private:
  const int stderr_ = dup(STDERR_FILENO);
};

TEST_F(LogFileTest, LinesAreAppended) {
  const std::string path = ::testing::TempDir() + "log_file_test.log";
  std::ofstream(path) << "before\n";
  ASSERT_THAT(SendStderrTo(path), IsOk());
  LogInfo("one");
  LogInfo("two");
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  EXPECT_THAT(text, AllOf(StartsWith("before\n"), HasSubstr(" info one\n"),
                          HasSubstr(" info two\n")));
}

TEST_F(LogFileTest, AFileThatCannotBeOpenedIsNamed) {
  EXPECT_THAT(SendStderrTo("/no/such/folder/log"),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("--log-file: cannot open "
                                 "'/no/such/folder/log': No such file")));
}

}  // namespace
}  // namespace reprise::testing
