#include "runtime/tensor/dtype.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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

absl::StatusOr<DType> DTypeFromName(absl::string_view name) {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].name == name) return static_cast<DType>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown datatype '", name, "'"));
}

bool IsFloat(DType dtype) {
  return dtype == DType::kFp16 || dtype == DType::kBf16 ||
         dtype == DType::kFp32 || dtype == DType::kFp64;
}

bool IsInteger(DType dtype) {
  return dtype >= DType::kUint8 && dtype <= DType::kInt64;
}

}  // namespace reprise
