// Tensor data in typed form (InferTensorContents), turned into raw elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/string_ref.h"
#include "server/grpc/infer_request.h"

namespace reprise {

// The elements of one tensor: `bytes` for numbers, little-endian, `strings` for
// BYTES (they borrow the message, or `scratch`).
struct TypedElements {
  std::vector<std::byte> bytes;
  std::vector<StringRef> strings;
};

// An input that has typed contents, and what they are to be.
struct TypedInput {
  const InferRequest& request;
  const InferRequest::Input& input;
  DType dtype;
  int64_t count;  // of elements, by the shape
};

// Reads the contents of `from` into empty `elements`. A narrower integer keeps
// the low bytes of its field, as in Triton.
// INVALID_ARGUMENT, without the tensor's name: another field than the
// datatype's, two fields, or another number of elements; FP16 and BF16 have no
// typed form. INTERNAL: not valid wire format.
absl::Status ReadTypedContents(const TypedInput& from,
                               std::forward_list<std::string>& scratch,
                               TypedElements& elements);

}  // namespace reprise
