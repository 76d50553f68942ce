// The geometry of launches in which every thread works alone, and how entries
// are named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/cuda/program.h"
#include "runtime/tensor/dtype.h"

namespace reprise::cuda {

// "f32", as the names of entries end; "string" for kString, which no entry has.
absl::string_view TypeSuffix(DType dtype);
// "b4": elements that are only moved.
std::string BytesSuffix(int64_t element_bytes);

int64_t CeilDiv(int64_t count, int64_t by);

// At least `threads` threads in blocks of 256; nothing for none.
KernelLaunch FlatLaunch(std::string entry, int64_t threads,
                        std::vector<Argument> arguments);

// `elements` of `from_type` as `to_type`: another one, neither of them kString.
KernelLaunch CastLaunch(Place from, DType from_type, Place to, DType to_type,
                        int64_t elements);

}  // namespace reprise::cuda
