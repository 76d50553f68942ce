#include "runtime/ops/onnx_dtype.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/ops/node_view.h"

namespace reprise::ops {

absl::StatusOr<DType> DTypeFromOnnx(int64_t number) {
  static constexpr std::pair<int, DType> kTypes[] = {
      {1, DType::kFp32},    {2, DType::kUint8},  {3, DType::kInt8},
      {4, DType::kUint16},  {5, DType::kInt16},  {6, DType::kInt32},
      {7, DType::kInt64},   {8, DType::kString}, {9, DType::kBool},
      {10, DType::kFp16},   {11, DType::kFp64},  {12, DType::kUint32},
      {13, DType::kUint64}, {16, DType::kBf16},
  };
  for (const auto& [onnx, dtype] : kTypes) {
    if (onnx == number) return dtype;
  }
  static constexpr std::pair<int, absl::string_view> kOthers[] = {
      {14, "COMPLEX64"},      {15, "COMPLEX128"}, {17, "FLOAT8E4M3FN"},
      {18, "FLOAT8E4M3FNUZ"}, {19, "FLOAT8E5M2"}, {20, "FLOAT8E5M2FNUZ"},
      {21, "UINT4"},          {22, "INT4"},       {23, "FLOAT4E2M1"},
  };
  for (const auto& [onnx, name] : kOthers) {
    if (onnx == number) {
      return NotRunHere(absl::StrCat("datatype ", name, " is not supported"));
    }
  }
  return BadNode(absl::StrCat("datatype ", number, " is not defined"));
}

}  // namespace reprise::ops
