// A folder of a test's own, and files in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace reprise::testing {

// Made under the system's temporary folder; removed with all that is in it.
class TempDir {
 public:
  TempDir() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "reprise.XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr);
    path_ = std::filesystem::canonical(pattern).string();
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string Path(const std::string& relative) const {
    return path_ + "/" + relative;
  }

  // Writes a file, and the folders that lead to it. The file is replaced by
  // another one, not overwritten: what reads the old one is not disturbed.
  void Write(const std::string& relative, const std::string& content) const {
    const std::filesystem::path file(Path(relative));
    std::filesystem::create_directories(file.parent_path());
    const std::string fresh = file.string() + ".new";
    {
      std::ofstream out(fresh, std::ios::binary);
      out << content;
      EXPECT_TRUE(out.good()) << fresh;
    }
    std::filesystem::rename(fresh, file);
  }
  void MakeFolder(const std::string& relative) const {
    std::filesystem::create_directories(Path(relative));
  }
  void Link(const std::string& target, const std::string& relative) const {
    std::filesystem::create_symlink(target, Path(relative));
  }
  void Remove(const std::string& relative) const {
    std::filesystem::remove_all(Path(relative));
  }

 private:
  std::string path_;
};

}  // namespace reprise::testing
