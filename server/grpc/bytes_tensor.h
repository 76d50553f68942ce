// BYTES tensors: length-prefixed text on the wire, StringRefs in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/batch/infer_task.h"
#include "runtime/tensor/string_ref.h"

namespace reprise {

// Appends the elements of the raw form (4 bytes of little-endian length, then
// the text, again and again) to `elements`; they borrow the pieces, or
// `scratch` where an element lies in two of them. INVALID_ARGUMENT, without the
// tensor's name, unless there are exactly `count` whole elements.
absl::Status SplitBytes(const InputRows& raw, int64_t count,
                        std::forward_list<std::string>& scratch,
                        std::vector<StringRef>& elements);

// Bytes of the raw form of these elements.
size_t RawBytesSize(std::span<const StringRef> elements);

// Writes it to `to`, which has room for it.
void WriteRawBytes(std::span<const StringRef> elements, char* to);

// A BYTES tensor's memory as its elements.
inline std::span<const StringRef> AsStrings(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const StringRef*>(bytes.data()),
          bytes.size() / sizeof(StringRef)};
}

}  // namespace reprise
