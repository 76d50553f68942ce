#include "runtime/tensor/dtype.h"

#include <array>

#include "runtime/tensor/string_ref.h"

namespace reprise {
namespace {

struct Row {
  absl::string_view name;
  size_t size;
};

// In the order of the enumeration.
constexpr std::array<Row, kDTypeCount> kTable = {{
    {"BOOL", 1},
    {"UINT8", 1},
    {"UINT16", 2},
    {"UINT32", 4},
    {"UINT64", 8},
    {"INT8", 1},
    {"INT16", 2},
    {"INT32", 4},
    {"INT64", 8},
    {"FP16", 2},
    {"FP32", 4},
    {"FP64", 8},
    {"BYTES", sizeof(StringRef)},
    {"BF16", 2},
}};

const Row& RowOf(DType dtype) { return kTable.at(static_cast<size_t>(dtype)); }

}  // namespace

size_t ElementSize(DType dtype) { return RowOf(dtype).size; }

absl::string_view DTypeName(DType dtype) { return RowOf(dtype).name; }

bool IsFloat(DType dtype) {
  return dtype == DType::kFp16 || dtype == DType::kBf16 ||
         dtype == DType::kFp32 || dtype == DType::kFp64;
}

bool IsInteger(DType dtype) {
  return dtype >= DType::kUint8 && dtype <= DType::kInt64;
}

bool IsNumber(DType dtype) { return IsFloat(dtype) || IsInteger(dtype); }

}  // namespace reprise
