// Tensors as the protocol carries them: a name, a datatype, dims, raw bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reprise::client {

// Row-major and little-endian. BYTES: each element is a 4-byte length and then
// that many bytes.
struct Tensor {
  std::string name;
  std::string datatype;  // "FP32", "BYTES", ...
  std::vector<int64_t> shape;
  std::string bytes;
};

// Bytes of one element; 0 for BYTES, whose elements vary.
// INVALID_ARGUMENT, with the name, if the protocol has no such datatype.
absl::StatusOr<size_t> ElementSize(absl::string_view datatype);

// The product of dims, 1 without any. INVALID_ARGUMENT if one is negative or
// the product does not fit.
absl::StatusOr<int64_t> ElementCount(const std::vector<int64_t>& shape);

// "[1, 3, -1]"
std::string ShapeText(const std::vector<int64_t>& shape);

// INVALID_ARGUMENT, naming the tensor, unless bytes fit datatype and shape.
absl::Status CheckTensor(const Tensor& tensor);

// The elements of a BYTES tensor; INVALID_ARGUMENT if the lengths do not add
// up. And the way back.
absl::StatusOr<std::vector<std::string>> DecodeStrings(absl::string_view bytes);
std::string EncodeStrings(const std::vector<std::string>& elements);

}  // namespace reprise::client
