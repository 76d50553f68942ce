#include "runtime/onnx/external_data.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/file_descriptor.h"
#include "runtime/base/status_macros.h"

namespace reprise::onnx_import {
namespace {

absl::Status Fault(const ExternalLocation& location, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("external data '", location.path, "' ", what));
}

absl::Status OpenFault(const ExternalLocation& location, int error) {
  if (error == ENOENT) {
    return absl::NotFoundError(
        absl::StrCat("external data '", location.path, "' does not exist"));
  }
  if (error == ELOOP || error == ENOTDIR) {
    return Fault(location, "is reached through a symbolic link or a file");
  }
  return Fault(location,
               absl::StrCat("cannot be opened: ", std::strerror(error)));
}

// The names on the location's path.
absl::StatusOr<std::vector<std::string>> Parts(
    const ExternalLocation& location) {
  const std::string& path = location.path;
  if (path.empty() || path.front() == '/' ||
      path.find('\0') != std::string::npos) {
    return Fault(location, "is not a relative path");
  }
  std::vector<std::string> parts;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "..") return Fault(location, "leaves the model's folder");
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  return parts;
}

absl::StatusOr<FileDescriptor> Open(const std::string& folder,
                                    const ExternalLocation& location) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                           Parts(location));
  OpenResult root = OpenFolder(folder);
  if (!root.file.valid()) return OpenFault(location, root.error);
  OpenResult opened = OpenBelow(std::move(root.file), parts);
  if (!opened.file.valid()) return OpenFault(location, opened.error);
  const FileDescriptor& at = opened.file;
  struct stat info = {};
  if (fstat(at.get(), &info) != 0) return OpenFault(location, errno);
  if (!S_ISREG(info.st_mode)) return Fault(location, "is not a regular file");
  if (info.st_nlink > 1) {
    return Fault(location, "has another name (a hard link)");
  }
  return std::move(opened.file);
}

absl::StatusOr<int64_t> Size(const FileDescriptor& file,
                             const ExternalLocation& location) {
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return OpenFault(location, errno);
  return static_cast<int64_t>(info.st_size);
}

}  // namespace

absl::StatusOr<int64_t> ExternalFileSize(const std::string& folder,
                                         const ExternalLocation& location) {
  REPRISE_ASSIGN_OR_RETURN(const FileDescriptor file, Open(folder, location));
  return Size(file, location);
}

absl::Status ReadExternal(const std::string& folder,
                          const ExternalLocation& location,
                          std::span<std::byte> out) {
  REPRISE_ASSIGN_OR_RETURN(const FileDescriptor file, Open(folder, location));
  REPRISE_ASSIGN_OR_RETURN(const int64_t size, Size(file, location));
  const int64_t wanted = static_cast<int64_t>(out.size());
  if (location.offset < 0 || location.offset > size) {
    return Fault(location, absl::StrCat("has ", size, " bytes, none at ",
                                        location.offset));
  }
  const int64_t length =
      location.length < 0 ? size - location.offset : location.length;
  if (length > size - location.offset) {
    return Fault(location, absl::StrCat("has ", size, " bytes, not ", length,
                                        " from ", location.offset, " on"));
  }
  if (length != wanted) {
    return Fault(location,
                 absl::StrCat("gives ", length, " bytes for ", wanted));
  }
  int64_t done = 0;
  while (done < wanted) {
    const ssize_t got =
        pread(file.get(), out.data() + done, static_cast<size_t>(wanted - done),
              location.offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return OpenFault(location, errno);
    if (got == 0) return Fault(location, "became shorter while it was read");
    done += got;
  }
  return absl::OkStatus();
}

}  // namespace reprise::onnx_import
