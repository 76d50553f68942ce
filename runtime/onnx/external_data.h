// Tensor bytes that a model keeps in files beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reprise::onnx_import {

// Where the bytes are, as the model says it.
struct ExternalLocation {
  std::string path;  // relative to the model's folder
  int64_t offset = 0;
  int64_t length = -1;  // -1: to the end of the file
};

// Fills `out` with the bytes at `location`; the length must be out.size().
// The file must be a regular one below `folder`, reached through no symbolic
// link and known by no other name (hard link): a model must not be able to read
// what is not its own. `folder` itself may be reached through links.
// INVALID_ARGUMENT: a path that leaves the folder, is absolute or empty, is not
// such a file, or bytes that the file does not have. NOT_FOUND: no such file.
absl::Status ReadExternal(const std::string& folder,
                          const ExternalLocation& location,
                          std::span<std::byte> out);

// The size that the file has, under the same rules: checked before memory is
// taken for its contents.
absl::StatusOr<int64_t> ExternalFileSize(const std::string& folder,
                                         const ExternalLocation& location);

}  // namespace reprise::onnx_import
