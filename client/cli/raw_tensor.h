// A file without a format of its own as a tensor.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/tensor.h"

namespace reprise::client {

// `target` with the content of the file at `path`, which is `bytes`: elements
// as on the wire, one after the other. Elements of BYTES stand behind their
// length in 4 bytes, or are the lines of a file whose name ends in ".txt". At
// most one dim of the target may be free (-1); it follows from the file's size.
// INVALID_ARGUMENT, with the path and what a row takes, if the file ends within
// a row or is empty.
absl::StatusOr<Tensor> RawTensor(const std::string& path, std::string bytes,
                                 Tensor target);

}  // namespace reprise::client
