#include "runtime/model/contained_file.h"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/model/temp_dir.h"
#include "tests/testing/status_matchers.h"

namespace {

// Once this is not zero, a listing breaks off with it, as it does when a disk
// or a network fails: root's rights are no help to a test there.
thread_local int readdir_error = 0;

}  // namespace

// In the place of the system's.
extern "C" dirent* readdir(DIR* dir) {
  static const auto system =
      reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  if (readdir_error == 0) return system(dir);
  errno = readdir_error;
  return nullptr;
}

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TempDir;
using ::testing::HasSubstr;
constexpr auto kDenied = absl::StatusCode::kPermissionDenied;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

TEST(ContainedFileTest, ANameIsOnePlainComponent) {
  EXPECT_THAT(CheckPathComponent("model.v1-x"), IsOk());
  EXPECT_THAT(CheckPathComponent("größe"), IsOk());
  for (const std::string& name :
       {std::string(""), std::string(" "), std::string("."), std::string(".."),
        std::string("a/b"), std::string("/etc"), std::string("a\\b"),
        std::string("a\nb"), std::string("a\0b", 3), std::string("a\xff"),
        std::string(300, 'x')}) {
    EXPECT_THAT(CheckPathComponent(name),
                StatusIs(kInvalid, HasSubstr("one plain path component")))
        << name;
  }
}

TEST(ContainedFileTest, ReadsAFileBelowTheFolder) {
  const TempDir dir;
  dir.Write("1/model.onnx", "content");
  EXPECT_THAT(ReadContainedFile(dir.path(), "1/model.onnx", 100),
              IsOkAndHolds("content"));
  dir.Write("empty", "");
  EXPECT_THAT(ReadContainedFile(dir.path(), "empty", 0), IsOkAndHolds(""));
}

TEST(ContainedFileTest, RefusesWhatLeadsElsewhere) {
  const TempDir outside;
  outside.Write("secret", "x");
  const TempDir dir;
  dir.MakeFolder("1");
  dir.Link(outside.Path("secret"), "1/file_link");
  dir.Link(outside.path(), "folder_link");
  dir.Write("real", "y");
  dir.Link(dir.Path("real"), "inner_link");
  EXPECT_THAT(ReadContainedFile(dir.path(), "1/file_link", 9),
              StatusIs(kDenied, HasSubstr("symbolic links")));
  EXPECT_THAT(ReadContainedFile(dir.path(), "folder_link/secret", 9),
              StatusIs(kDenied));
  EXPECT_THAT(ReadContainedFile(dir.path(), "inner_link", 9),
              StatusIs(kDenied));
  EXPECT_THAT(ReadContainedFile(dir.path(), "../secret", 9),
              StatusIs(kInvalid));
  EXPECT_THAT(ReadContainedFile(dir.path(), outside.Path("secret"), 9),
              StatusIs(kInvalid));
}

TEST(ContainedFileTest, RefusesWhatIsNoFileOrTooLarge) {
  const TempDir dir;
  dir.MakeFolder("folder");
  dir.Write("large", "0123456789");
  ASSERT_EQ(mkfifo(dir.Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadContainedFile(dir.path(), "folder", 9), StatusIs(kInvalid));
  EXPECT_THAT(ReadContainedFile(dir.path(), "pipe", 9), StatusIs(kInvalid));
  EXPECT_THAT(ReadContainedFile(dir.path(), "large", 9),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("large has 10 bytes")));
  EXPECT_THAT(ReadContainedFile(dir.path(), "absent", 9), StatusIs(kNotFound));
  EXPECT_THAT(ReadContainedFile(dir.Path("absent"), "x", 9),
              StatusIs(kNotFound));
}

TEST(ContainedFileTest, AFolderMayBeReachedThroughALink) {
  const TempDir dir;
  dir.MakeFolder("real");
  dir.Link(dir.Path("real"), "link");
  dir.Write("file", "x");
  EXPECT_THAT(ResolveFolder(dir.Path("link")), IsOkAndHolds(dir.Path("real")));
  EXPECT_THAT(ResolveFolder(dir.Path("file")), StatusIs(kInvalid));
  EXPECT_THAT(ResolveFolder(dir.Path("absent")), StatusIs(kNotFound));
}

TEST(ContainedFileTest, ListsVisibleEntriesByName) {
  const TempDir dir;
  dir.Write("b", "12345");
  dir.MakeFolder("a");
  dir.MakeFolder(".hidden");
  dir.Link(dir.Path("a"), "c");
  dir.Link(dir.Path("absent"), "dangling");
  const auto entries = ListFolder(dir.path());
  ASSERT_THAT(entries, IsOk());
  ASSERT_EQ(entries->size(), 3U);
  EXPECT_EQ((*entries)[0].name, "a");
  EXPECT_TRUE((*entries)[0].is_folder);
  EXPECT_FALSE((*entries)[0].is_link);
  EXPECT_EQ((*entries)[1].name, "b");
  EXPECT_EQ((*entries)[1].bytes, 5);
  EXPECT_FALSE((*entries)[1].is_folder);
  EXPECT_TRUE((*entries)[2].is_link);
  EXPECT_TRUE((*entries)[2].is_folder);
  EXPECT_THAT(ListFolder(dir.Path("absent")), StatusIs(kNotFound));
}

TEST(ContainedFileTest, HalfAListingIsNoListing) {
  const TempDir dir;
  dir.Write("a", "1");
  for (const int error : {EIO, ESTALE, ENODEV}) {
    readdir_error = error;
    const auto entries = ListFolder(dir.path());
    readdir_error = 0;
    EXPECT_FALSE(entries.ok()) << error;
    EXPECT_FALSE(absl::IsNotFound(entries.status())) << entries.status();
    EXPECT_THAT(entries.status().message(), HasSubstr(dir.path()));
  }
  EXPECT_THAT(ListFolder(dir.path()), IsOk());
}

TEST(ContainedFileTest, WhatCannotBeLookedAtIsListedWithTheReason) {
  const TempDir dir;
  dir.Write("a", "1");
  dir.Link("circle", "circle");
  const auto entries = ListFolder(dir.path());
  ASSERT_THAT(entries, IsOk());
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_THAT((*entries)[0].status, IsOk());
  EXPECT_EQ((*entries)[1].name, "circle");
  EXPECT_FALSE((*entries)[1].status.ok());
  EXPECT_FALSE(absl::IsNotFound((*entries)[1].status));
}

TEST(ContainedFileTest, KnowsWhatLiesWithinAFolder) {
  EXPECT_TRUE(IsWithin("/a/b", "/a/b"));
  EXPECT_TRUE(IsWithin("/a/b/c", "/a/b"));
  EXPECT_TRUE(IsWithin("/a", "/"));
  EXPECT_FALSE(IsWithin("/a/bc", "/a/b"));
  EXPECT_FALSE(IsWithin("/a", "/a/b"));
  EXPECT_FALSE(IsWithin("/c", "/a/b"));
}

TEST(ContainedFileTest, ARefusedPathIsShownWhole) {
  EXPECT_THAT(CheckRelativePath("../../etc/passwd"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'../../etc/passwd' is not a valid path")));
}

}  // namespace
}  // namespace reprise
