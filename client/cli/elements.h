// The elements of a tensor's bytes as numbers, and numbers as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/cli/format.h"
#include "client/tensor.h"

namespace reprise::client {

bool IsFloatType(absl::string_view datatype);  // FP16, BF16, FP32, FP64

// The element at `bytes`, which must hold one. `datatype` is any but BYTES.
// 64-bit integers beyond 2^53 lose their low bits.
double ReadElement(absl::string_view datatype, const char* bytes);

// Appends `value` in the datatype's form. Integers are rounded to nearest and
// held within their range (NaN becomes 0), FP16 and BF16 rounded to nearest
// even. `datatype` is any but BYTES.
void AppendElement(absl::string_view datatype, double value,
                   std::string& bytes);

// All elements as a flat JSON array: numbers (exact for integers), true and
// false for BOOL, strings for BYTES. JSON knows neither NaN nor infinities:
// they become null. The tensor must have passed CheckTensor.
Json ElementsJson(const Tensor& tensor);

// One element in the same form; `datatype` is any but BYTES.
Json ElementJson(absl::string_view datatype, const char* bytes);

// One element for people: integers exact, 0 or 1 for BOOL, other numbers with
// six digits. `datatype` is any but BYTES.
std::string ElementText(absl::string_view datatype, const char* bytes);

// The indices of the `k` largest of `count` elements, in order, the lower index
// first among equals; NaN sorts last. `datatype` is any but BYTES.
std::vector<size_t> LargestElements(absl::string_view datatype,
                                    const char* bytes, size_t count, size_t k);

// The first elements, "0.125, 3, ..."; at most `limit` of them.
std::string Preview(const Tensor& tensor, size_t limit);

}  // namespace reprise::client
