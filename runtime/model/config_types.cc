#include "runtime/model/config_types.h"

#include <array>
#include <utility>

namespace reprise {
namespace {

constexpr std::array<std::pair<DType, inference::DataType>, kDTypeCount>
    kTypes = {{{DType::kBool, inference::TYPE_BOOL},
               {DType::kUint8, inference::TYPE_UINT8},
               {DType::kUint16, inference::TYPE_UINT16},
               {DType::kUint32, inference::TYPE_UINT32},
               {DType::kUint64, inference::TYPE_UINT64},
               {DType::kInt8, inference::TYPE_INT8},
               {DType::kInt16, inference::TYPE_INT16},
               {DType::kInt32, inference::TYPE_INT32},
               {DType::kInt64, inference::TYPE_INT64},
               {DType::kFp16, inference::TYPE_FP16},
               {DType::kFp32, inference::TYPE_FP32},
               {DType::kFp64, inference::TYPE_FP64},
               {DType::kString, inference::TYPE_STRING},
               {DType::kBf16, inference::TYPE_BF16}}};

}  // namespace

inference::DataType ToConfigType(DType dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  return inference::TYPE_INVALID;
}

std::optional<DType> FromConfigType(inference::DataType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

}  // namespace reprise
