#include "runtime/base/file_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace reprise {
namespace {

OpenResult Opened(int fd) { return {FileDescriptor(fd), fd < 0 ? errno : 0}; }

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ < 0) return;
  const int before = errno;
  close(fd_);
  errno = before;
}

OpenResult OpenFolder(const std::string& path) {
  return Opened(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// openat2 would do it in one call, but not on every kernel.
OpenResult OpenBelow(FileDescriptor folder,
                     std::span<const std::string> parts) {
  OpenResult at{std::move(folder)};
  for (size_t i = 0; i < parts.size(); ++i) {
    const char* part = parts[i].c_str();
    // Asked first because of what openat says of a link to a folder: ENOTDIR,
    // as of a file. That it cannot be followed does not hang on this.
    struct stat info = {};
    if (fstatat(at.file.get(), part, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      return {FileDescriptor(), errno};
    }
    if (S_ISLNK(info.st_mode)) return {FileDescriptor(), ELOOP};
    const int kind = i + 1 < parts.size() ? O_DIRECTORY : O_NONBLOCK;
    at = Opened(
        openat(at.file.get(), part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind));
    if (!at.file.valid()) return at;
  }
  return at;
}

}  // namespace reprise
