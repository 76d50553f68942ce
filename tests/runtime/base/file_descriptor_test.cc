#include "runtime/base/file_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "gtest/gtest.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

FileDescriptor Root() { return FileDescriptor(open("/", O_RDONLY)); }

TEST(FileDescriptorTest, ClosesWhatItOwnsAndKeepsErrno) {
  int fd = -1;
  {
    const FileDescriptor file = Root();
    fd = file.get();
    ASSERT_TRUE(file.valid());
    EXPECT_TRUE(IsOpen(fd));
    errno = EBADMSG;
  }
  EXPECT_EQ(errno, EBADMSG);
  EXPECT_FALSE(IsOpen(fd));
  EXPECT_FALSE(FileDescriptor().valid());
  EXPECT_FALSE(FileDescriptor(-1).valid());
}

TEST(FileDescriptorTest, MovesAndReleases) {
  FileDescriptor first = Root();
  const int fd = first.get();
  FileDescriptor second(std::move(first));
  EXPECT_EQ(second.get(), fd);
  FileDescriptor third;
  third = std::move(second);
  EXPECT_EQ(third.Release(), fd);
  EXPECT_FALSE(third.valid());
  EXPECT_TRUE(IsOpen(fd));
  close(fd);
}

class OpenBelowTest : public ::testing::Test {
 protected:
  OpenBelowTest() {
    const std::string name =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::path(::testing::TempDir()) / ("open_below_" + name);
    fs::remove_all(root_);
    fs::create_directories(root_ / "folder" / "inner");
    std::ofstream(root_ / "folder" / "inner" / "file") << "x";
  }
  ~OpenBelowTest() override { fs::remove_all(root_); }

  OpenResult Open(const std::vector<std::string>& parts) const {
    OpenResult folder = OpenFolder(root_ / "folder");
    EXPECT_EQ(folder.error, 0);
    return OpenBelow(std::move(folder.file), parts);
  }

  fs::path root_;
};

TEST_F(OpenBelowTest, OpensWhatThePartsLeadTo) {
  const OpenResult file = Open({"inner", "file"});
  EXPECT_EQ(file.error, 0);
  char text = 0;
  EXPECT_EQ(read(file.file.get(), &text, 1), 1);
  EXPECT_EQ(text, 'x');
  EXPECT_TRUE(Open({}).file.valid());
  EXPECT_TRUE(Open({"inner"}).file.valid());
}

TEST_F(OpenBelowTest, SaysWhatTheSystemSays) {
  EXPECT_EQ(Open({"none"}).error, ENOENT);
  EXPECT_FALSE(Open({"none"}).file.valid());
  EXPECT_EQ(Open({"inner", "file", "x"}).error, ENOTDIR);
  EXPECT_EQ(OpenFolder(root_ / "none").error, ENOENT);
  EXPECT_EQ(OpenFolder(root_ / "folder" / "inner" / "file").error, ENOTDIR);
}

TEST_F(OpenBelowTest, FollowsLinksToTheFolderOnly) {
  fs::create_directory_symlink(root_ / "folder", root_ / "link");
  EXPECT_TRUE(OpenFolder(root_ / "link").file.valid());
  fs::create_directory_symlink("inner", root_ / "folder" / "to_folder");
  fs::create_symlink("inner/file", root_ / "folder" / "to_file");
  fs::create_symlink("nowhere", root_ / "folder" / "dangling");
  EXPECT_EQ(Open({"to_folder", "file"}).error, ELOOP);
  EXPECT_EQ(Open({"to_folder"}).error, ELOOP);
  EXPECT_EQ(Open({"to_file"}).error, ELOOP);
  EXPECT_EQ(Open({"dangling"}).error, ELOOP);
}

TEST_F(OpenBelowTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo((root_ / "folder" / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(Open({"pipe"}).file.valid());
}

}  // namespace
}  // namespace reprise
