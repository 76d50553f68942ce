// From a DType to the C++ type of its elements.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/ops/node_view.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/float16.h"
#include "runtime/tensor/string_ref.h"

namespace reprise::cpu {

template <typename T>
struct TypeTag {
  using type = T;
};

// What arithmetic on elements of T is done in: float for the 16-bit floats.
template <typename T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>,
                       float, T>;

template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<ComputeType<T>>;

// Integers never are.
template <typename C>
bool IsNan(C value) {
  if constexpr (std::is_floating_point_v<C>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

// fn(TypeTag<T>()) for the element type of `dtype`, which must return a
// StatusOr; UNIMPLEMENTED for the dtypes that a call does not cover.
template <typename Fn>
auto VisitFloat(DType dtype, Fn fn) -> decltype(fn(TypeTag<float>())) {
  switch (dtype) {
    case DType::kFp32:
      return fn(TypeTag<float>());
    case DType::kFp64:
      return fn(TypeTag<double>());
    case DType::kFp16:
      return fn(TypeTag<Half>());
    case DType::kBf16:
      return fn(TypeTag<BFloat16>());
    default:
      return ops::NotRunHere(
          absl::StrCat("not run for elements of ", DTypeName(dtype)));
  }
}

template <typename Fn>
auto VisitInteger(DType dtype, Fn fn) -> decltype(fn(TypeTag<int32_t>())) {
  switch (dtype) {
    case DType::kUint8:
      return fn(TypeTag<uint8_t>());
    case DType::kUint16:
      return fn(TypeTag<uint16_t>());
    case DType::kUint32:
      return fn(TypeTag<uint32_t>());
    case DType::kUint64:
      return fn(TypeTag<uint64_t>());
    case DType::kInt8:
      return fn(TypeTag<int8_t>());
    case DType::kInt16:
      return fn(TypeTag<int16_t>());
    case DType::kInt32:
      return fn(TypeTag<int32_t>());
    case DType::kInt64:
      return fn(TypeTag<int64_t>());
    default:
      return ops::NotRunHere(
          absl::StrCat("not run for elements of ", DTypeName(dtype)));
  }
}

template <typename Fn>
auto VisitNumber(DType dtype, Fn fn) -> decltype(fn(TypeTag<float>())) {
  return IsFloat(dtype) ? VisitFloat(dtype, fn) : VisitInteger(dtype, fn);
}

// Numbers and BOOL.
template <typename Fn>
auto VisitNumberOrBool(DType dtype, Fn fn) -> decltype(fn(TypeTag<float>())) {
  if (dtype == DType::kBool) return fn(TypeTag<bool>());
  return VisitNumber(dtype, fn);
}

// INT32 or INT64: the types of indices.
template <typename Fn>
auto VisitIndex(DType dtype, Fn fn) -> decltype(fn(TypeTag<int32_t>())) {
  switch (dtype) {
    case DType::kInt32:
      return fn(TypeTag<int32_t>());
    case DType::kInt64:
      return fn(TypeTag<int64_t>());
    default:
      return ops::NotRunHere(absl::StrCat("indices of ", DTypeName(dtype)));
  }
}

// Elements that are only moved, by their size.
template <typename Fn>
auto VisitBytes(DType dtype, Fn fn) -> decltype(fn(TypeTag<uint32_t>())) {
  switch (ElementSize(dtype)) {
    case 1:
      return fn(TypeTag<uint8_t>());
    case 2:
      return fn(TypeTag<uint16_t>());
    case 4:
      return fn(TypeTag<uint32_t>());
    case 8:
      return fn(TypeTag<uint64_t>());
    default:
      return fn(TypeTag<StringRef>());
  }
}

}  // namespace reprise::cpu
