// NumPy's .npy files, versions 1.0 to 3.0, in C order.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/tensor.h"

namespace reprise::client {

// The array in a file's `bytes`; the tensor has no name. Bytes strings (S) and
// unicode (U, as UTF-8) become BYTES; raw 2-byte items (V2) become BF16.
// INVALID_ARGUMENT, saying how to save it instead, for Fortran order,
// big-endian data, objects, dates and complex numbers, and for damaged files.
absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes);

// The file's bytes (version 1.0, or 2.0 for a long header). BF16 is written as
// V2, BYTES as S of the longest element. INVALID_ARGUMENT if the tensor does
// not fit itself, or an element of BYTES ends in a zero byte, which S loses.
absl::StatusOr<std::string> FormatNpy(const Tensor& tensor);

}  // namespace reprise::client
