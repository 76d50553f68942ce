#include "runtime/tensor/shape.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"

namespace reprise {

absl::StatusOr<int64_t> NumElements(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (dim < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("negative dim in shape ", DimsText(dims)));
    }
    if (__builtin_mul_overflow(product, dim, &product)) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", DimsText(dims), " has too many elements"));
    }
  }
  return product;
}

int64_t ElementCount(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

absl::StatusOr<int64_t> NumBytes(DType dtype, std::span<const int64_t> dims) {
  REPRISE_ASSIGN_OR_RETURN(int64_t bytes, NumElements(dims));
  if (__builtin_mul_overflow(bytes, static_cast<int64_t>(ElementSize(dtype)),
                             &bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape ", DimsText(dims), " has too many bytes"));
  }
  return bytes;
}

std::string DimsText(std::span<const int64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims.begin(), dims.end(), ","), "]");
}

Dims Strides(std::span<const int64_t> dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * dims[i];
  }
  return strides;
}

}  // namespace reprise
