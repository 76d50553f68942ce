#include "client/files.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::IsOkAndHolds;
using reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FilesTest, ReadsWhatItWrote) {
  const std::string path = ::testing::TempDir() + "/files_test.bin";
  const std::string bytes(100'000, '\0');
  ASSERT_THAT(WriteFile(path, bytes), IsOk());
  EXPECT_THAT(ReadFile(path), IsOkAndHolds(bytes));
  ASSERT_THAT(WriteFile(path, "short"), IsOk());
  EXPECT_THAT(ReadFile(path), IsOkAndHolds("short"));
}

TEST(FilesTest, NamesThePathAndTheReason) {
  EXPECT_THAT(
      ReadFile("/no/such/file"),
      StatusIs(absl::StatusCode::kNotFound,
               AllOf(HasSubstr("/no/such/file"), HasSubstr("No such file"))));
  EXPECT_THAT(ReadFile("/"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("directory")));
  EXPECT_THAT(WriteFile("/no/such/file", "x"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("cannot write /no/such/file")));
}

}  // namespace
}  // namespace reprise::client
