#include "client/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <ostream>

#include "client/files.h"
#include "tests/client/cli/run_cli.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::client::testing::TempPath;
using reprise::testing::IsOk;
using reprise::testing::StatusIs;

TEST(OutputTest, WritesAllOfIt) {
  const std::string path = TempPath("output.txt");
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ASSERT_GE(fd, 0);
  Output output(fd);
  std::ostream out(&output);
  const std::string large(200'000, 'x');
  out << "a" << 1 << large;
  out.put('\n').flush();
  EXPECT_EQ(*ReadFile(path), "a1" + large + "\n");
  out << "end";
  EXPECT_THAT(output.Finish(), IsOk());
  EXPECT_EQ(*ReadFile(path), "a1" + large + "\nend");
  close(fd);
}

TEST(OutputTest, TellsWhyAWriteFailed) {
  const int fd = open("/dev/full", O_WRONLY);
  ASSERT_GE(fd, 0);
  for (const size_t size : {size_t{1}, size_t{200'000}}) {
    Output output(fd);
    std::ostream out(&output);
    out << std::string(size, 'x') << "and more";
    EXPECT_THAT(output.Finish(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          "No space left on device"));
  }
  close(fd);
}

TEST(OutputTest, NothingToWriteIsNoFailure) {
  Output output(-1);
  EXPECT_THAT(output.Finish(), IsOk());
}

}  // namespace
}  // namespace reprise::client
