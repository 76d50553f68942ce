// A file descriptor that closes itself, and a walk that follows no links.
#pragma once

#include <span>
#include <string>
#include <utility>

namespace reprise {

// Owns a file descriptor, or none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  // What a system call returned; below 0 there is nothing to own.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();  // leaves errno as it is

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Gives the descriptor up: the caller closes it, or leaves it open.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct OpenResult {
  FileDescriptor file;
  int error = 0;  // errno, if `file` is not valid
};

// The folder `path`, itself reached through links or not.
OpenResult OpenFolder(const std::string& path);

// What the names `parts` lead to from the open `folder`, one after the other
// and never through a symbolic link, so that the walk cannot leave the folder
// whatever happens to the tree meanwhile. The caller has seen to it that no
// part is empty, "." or "..", or holds a '/'. Open for reading; a pipe is not
// waited for. ELOOP: a part is a symbolic link.
OpenResult OpenBelow(FileDescriptor folder, std::span<const std::string> parts);

}  // namespace reprise
