#include "runtime/onnx/external_data.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/status_matchers.h"

namespace reprise::onnx_import {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::StatusIs;
namespace fs = std::filesystem;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::path(::testing::TempDir()) / ("external_data_" + name);
    fs::remove_all(root_);
    fs::create_directories(root_ / "model" / "sub");
    Write(root_ / "model" / "w.bin", "0123456789");
    Write(root_ / "model" / "sub" / "v.bin", "abc");
    Write(root_ / "secret", "secret");
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Write(const fs::path& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  std::string folder() const { return (root_ / "model").string(); }

  // What is read, or the error.
  absl::StatusOr<std::string> Read(const ExternalLocation& location,
                                   size_t bytes) const {
    std::string out(bytes, '.');
    const absl::Status status =
        ReadExternal(folder(), location,
                     std::as_writable_bytes(std::span(out.data(), bytes)));
    if (!status.ok()) return status;
    return out;
  }

  fs::path root_;
};

TEST_F(ExternalDataTest, ReadsARange) {
  EXPECT_THAT(Read({"w.bin", 2, 3}, 3), IsOkAndHolds("234"));
  EXPECT_THAT(Read({"w.bin", 7, -1}, 3), IsOkAndHolds("789"));
  EXPECT_THAT(Read({"./sub//v.bin", 0, -1}, 3), IsOkAndHolds("abc"));
  EXPECT_THAT(Read({"w.bin", 10, 0}, 0), IsOkAndHolds(""));
  EXPECT_THAT(ExternalFileSize(folder(), {"w.bin"}), IsOkAndHolds(10));
}

TEST_F(ExternalDataTest, TheFolderItselfMayBeReachedThroughALink) {
  fs::create_directory_symlink(root_ / "model", root_ / "link");
  EXPECT_THAT(ExternalFileSize((root_ / "link").string(), {"w.bin"}),
              IsOkAndHolds(10));
}

TEST_F(ExternalDataTest, RangesMustLieInTheFile) {
  EXPECT_THAT(Read({"w.bin", 8, 3}, 3),
              StatusIs(kInvalid, HasSubstr("has 10 bytes, not 3 from 8")));
  EXPECT_THAT(Read({"w.bin", 11, 0}, 0), StatusIs(kInvalid));
  EXPECT_THAT(Read({"w.bin", -1, 3}, 3), StatusIs(kInvalid));
  EXPECT_THAT(Read({"w.bin", 1, INT64_MAX}, 3), StatusIs(kInvalid));
  EXPECT_THAT(Read({"w.bin", 0, 4}, 3),
              StatusIs(kInvalid, HasSubstr("gives 4 bytes for 3")));
  EXPECT_THAT(Read({"w.bin", 0, -1}, 3), StatusIs(kInvalid));
}

TEST_F(ExternalDataTest, NoPathLeavesTheFolder) {
  EXPECT_THAT(Read({"../secret", 0, -1}, 6),
              StatusIs(kInvalid, HasSubstr("leaves the model's folder")));
  EXPECT_THAT(Read({"sub/../../secret", 0, -1}, 6), StatusIs(kInvalid));
  EXPECT_THAT(Read({(root_ / "secret").string(), 0, -1}, 6),
              StatusIs(kInvalid, HasSubstr("not a relative path")));
  EXPECT_THAT(Read({"", 0, -1}, 6), StatusIs(kInvalid));
  EXPECT_THAT(Read({std::string("w.bin\0x", 7), 0, -1}, 6), StatusIs(kInvalid));
}

TEST_F(ExternalDataTest, NoLinkIsFollowed) {
  fs::create_symlink(root_ / "secret", root_ / "model" / "link");
  EXPECT_THAT(Read({"link", 0, -1}, 6),
              StatusIs(kInvalid, HasSubstr("symbolic link")));
  fs::create_directory_symlink(root_, root_ / "model" / "up");
  EXPECT_THAT(Read({"up/secret", 0, -1}, 6), StatusIs(kInvalid));
  fs::create_symlink("w.bin", root_ / "model" / "inside");
  EXPECT_THAT(Read({"inside", 0, -1}, 10), StatusIs(kInvalid));
  fs::create_hard_link(root_ / "secret", root_ / "model" / "hard");
  EXPECT_THAT(Read({"hard", 0, -1}, 6),
              StatusIs(kInvalid, HasSubstr("hard link")));
}

TEST_F(ExternalDataTest, OnlyRegularFilesAreRead) {
  EXPECT_THAT(Read({"sub", 0, -1}, 6),
              StatusIs(kInvalid, HasSubstr("not a regular file")));
  ASSERT_EQ(mkfifo((root_ / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(Read({"pipe", 0, -1}, 6), StatusIs(kInvalid));
  EXPECT_THAT(Read({"none", 0, -1}, 6),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'none'")));
  EXPECT_THAT(Read({"w.bin/x", 0, -1}, 6), StatusIs(kInvalid));
}

}  // namespace
}  // namespace reprise::onnx_import
