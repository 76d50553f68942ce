#include "runtime/model/contained_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/file_descriptor.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/utf8.h"

namespace reprise {
namespace {

constexpr size_t kMaxEntries = 100'000;
constexpr size_t kMaxShownPath = 255;  // of one that is refused

absl::Status SystemError(int error, absl::string_view what) {
  if (error == ELOOP) {
    return absl::PermissionDeniedError(absl::StrCat(
        what, ": symbolic links below a model's folder are not followed"));
  }
  return absl::ErrnoToStatus(error, what);
}

// NOT_FOUND says that something has gone, so it is kept for just that: abseil's
// own table has it for devices that do not answer, too.
absl::Status FolderError(int error, absl::string_view what) {
  absl::Status status = absl::ErrnoToStatus(error, what);
  if (error == ENOENT || !absl::IsNotFound(status)) return status;
  return absl::UnavailableError(status.message());
}

absl::StatusOr<FileDescriptor> Open(const std::string& folder,
                                    absl::string_view relative) {
  REPRISE_RETURN_IF_ERROR(CheckRelativePath(relative));
  OpenResult root = OpenFolder(folder);
  if (!root.file.valid()) return SystemError(root.error, folder);
  const std::vector<std::string> parts = absl::StrSplit(relative, '/');
  OpenResult opened = OpenBelow(std::move(root.file), parts);
  if (!opened.file.valid()) return SystemError(opened.error, relative);
  return std::move(opened.file);
}

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// `name` in the open folder `fd`. NOT_FOUND if it has gone, or is a link that
// leads nowhere.
absl::StatusOr<FolderEntry> LookAt(int fd, const char* name) {
  FolderEntry entry;
  entry.name = name;
  struct stat info = {};
  if (fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return FolderError(errno, name);
  }
  entry.is_link = S_ISLNK(info.st_mode);
  entry.bytes = info.st_size;
  entry.modified = Nanoseconds(info.st_mtim);
  entry.inode = info.st_ino;
  if (entry.is_link && fstatat(fd, name, &info, 0) != 0) {
    return FolderError(errno, name);
  }
  entry.is_folder = S_ISDIR(info.st_mode);
  return entry;
}

}  // namespace

absl::Status CheckPathComponent(absl::string_view name) {
  const bool blank = std::all_of(name.begin(), name.end(), absl::ascii_isspace);
  const bool plain = std::none_of(name.begin(), name.end(), [](char c) {
    return c == '/' || c == '\\' || absl::ascii_iscntrl(c);
  });
  if (blank || !plain || name == "." || name == ".." || name.size() > 255 ||
      !IsUtf8(name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", absl::CHexEscape(name.substr(0, 255)),
        "' is not a valid name: it must be one plain path component in "
        "UTF-8"));
  }
  return absl::OkStatus();
}

absl::Status CheckRelativePath(absl::string_view path) {
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (CheckPathComponent(part).ok()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", absl::CHexEscape(path.substr(0, kMaxShownPath)),
        "' is not a valid path: it must be relative, of plain components"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ResolveFolder(const std::string& path) {
  struct Free {
    void operator()(char* text) const { free(text); }
  };
  const std::unique_ptr<char, Free> resolved(realpath(path.c_str(), nullptr));
  if (resolved == nullptr) return FolderError(errno, path);
  struct stat info = {};
  if (stat(resolved.get(), &info) != 0) return FolderError(errno, path);
  if (!S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a folder"));
  }
  return std::string(resolved.get());
}

bool IsWithin(absl::string_view path, absl::string_view folder) {
  if (!absl::ConsumePrefix(&path, folder)) return false;
  return path.empty() || path[0] == '/' || absl::EndsWith(folder, "/");
}

absl::StatusOr<std::string> ReadContainedFile(const std::string& folder,
                                              absl::string_view relative,
                                              int64_t max_bytes) {
  REPRISE_ASSIGN_OR_RETURN(const FileDescriptor file, Open(folder, relative));
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return SystemError(errno, relative);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(relative, " is not a regular file"));
  }
  if (info.st_size > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(relative, " has ", info.st_size, " bytes; at most ",
                     max_bytes, " are read"));
  }
  std::string content(static_cast<size_t>(info.st_size), '\0');
  size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t got =
        read(file.get(), content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(errno, relative);
    if (got == 0) break;  // it was cut while it was read
    filled += static_cast<size_t>(got);
  }
  content.resize(filled);
  return content;
}

absl::StatusOr<std::vector<FolderEntry>> ListFolder(const std::string& path) {
  const std::unique_ptr<DIR, CloseDir> dir(opendir(path.c_str()));
  if (dir == nullptr) return FolderError(errno, path);
  std::vector<FolderEntry> entries;
  while (true) {
    // Null is the end and a failure alike; only errno tells them apart. The
    // stream is this thread's own.
    errno = 0;
    const dirent* next = readdir(dir.get());  // NOLINT(concurrency-mt-unsafe)
    if (next == nullptr && errno != 0) return FolderError(errno, path);
    if (next == nullptr) break;
    if (next->d_name[0] == '.') continue;
    auto entry = LookAt(dirfd(dir.get()), next->d_name);
    if (absl::IsNotFound(entry.status())) continue;
    if (entries.size() == kMaxEntries) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, " has more than ", kMaxEntries, " entries"));
    }
    if (entry.ok()) {
      entries.push_back(*std::move(entry));
    } else {
      entries.emplace_back();
      entries.back().name = next->d_name;
      entries.back().status = entry.status();
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) {
              return a.name < b.name;
            });
  return entries;
}

}  // namespace reprise
