// Files below one folder, and nothing that a link or ".." could lead to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reprise {

// Whether `name` is one plain path component: not empty, blank, "." or "..",
// UTF-8, and without '/', '\\' or control characters. What names a model must
// be this before any path is built from it. INVALID_ARGUMENT says what is
// wrong.
absl::Status CheckPathComponent(absl::string_view name);

// Whether `path` is relative, and every part of it is a plain component.
absl::Status CheckRelativePath(absl::string_view path);

// The folder's path with every symbolic link resolved. This is the one place
// where links are followed: no file is read through one. NOT_FOUND if there is
// no such folder; other codes as the system says; INVALID_ARGUMENT if it is no
// folder.
absl::StatusOr<std::string> ResolveFolder(const std::string& path);

// The content of the regular file `relative` below `folder`. A symbolic link
// anywhere in `relative` is refused with PERMISSION_DENIED; a file above
// `max_bytes` with RESOURCE_EXHAUSTED; NOT_FOUND if there is none.
absl::StatusOr<std::string> ReadContainedFile(const std::string& folder,
                                              absl::string_view relative,
                                              int64_t max_bytes);

// Whether the resolved path `path` is `folder`, itself resolved, or below it.
bool IsWithin(absl::string_view path, absl::string_view folder);

struct FolderEntry {
  std::string name;
  absl::Status status;  // why it could not be looked at: then the rest is unset
  bool is_folder = false;
  bool is_link = false;  // then `is_folder` is that of what it points to
  int64_t bytes = 0;     // of the entry itself
  int64_t modified = 0;  // nanoseconds since the epoch
  uint64_t inode = 0;
};

// What stands in a folder, by name; left out are hidden entries (".x") and
// links that lead nowhere. Errors as ResolveFolder, and of a listing that
// breaks off: half of one is never taken for the whole. At most 100,000
// entries: RESOURCE_EXHAUSTED.
absl::StatusOr<std::vector<FolderEntry>> ListFolder(const std::string& path);

}  // namespace reprise
