// The datatypes of tensors: one table of names and sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace reprise {

// The datatypes of the v2 protocol. kString is the wire's BYTES: in memory an
// element is a StringRef that borrows its bytes (string_ref.h).
enum class DType : uint8_t {
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kFp32,
  kFp64,
  kString,
  kBf16,
};

inline constexpr int kDTypeCount = 14;

// Bytes of one element in memory; sizeof(StringRef) for kString.
size_t ElementSize(DType dtype);

// The v2 protocol's name: "FP32", "BYTES", ...
absl::string_view DTypeName(DType dtype);

bool IsFloat(DType dtype);    // FP16, BF16, FP32, FP64
bool IsInteger(DType dtype);  // signed or unsigned; not BOOL
bool IsNumber(DType dtype);   // either

}  // namespace reprise
