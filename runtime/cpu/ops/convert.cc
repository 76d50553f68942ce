#include "runtime/cpu/ops/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/cpu/dispatch.h"

namespace reprise::cpu {
namespace {

template <typename From, typename To>
To Convert(From from) {
  const auto value = static_cast<ComputeType<From>>(from);
  using V = std::remove_const_t<decltype(value)>;
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<V> && std::is_integral_v<To>) {
    // C++ leaves undefined what does not fit.
    if (std::isnan(value)) return To{0};
    // The upper bound as a float may be one above the integer's maximum.
    if (value >= static_cast<double>(std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
    if (value <= static_cast<double>(std::numeric_limits<To>::lowest())) {
      return std::numeric_limits<To>::lowest();
    }
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
void ConvertLoop(const std::byte* from, int64_t step_from, std::byte* to,
                 int64_t step_to, int64_t n) {
  const From* x = reinterpret_cast<const From*>(from);
  To* y = reinterpret_cast<To*>(to);
  if (step_from == 1 && step_to == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = Convert<From, To>(x[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      y[i * step_to] = Convert<From, To>(x[i * step_from]);
    }
  }
}

template <typename T>
void CopyLoop(const std::byte* from, int64_t step_from, std::byte* to,
              int64_t step_to, int64_t n) {
  const T* x = reinterpret_cast<const T*>(from);
  T* y = reinterpret_cast<T*>(to);
  if (step_from == 1 && step_to == 1) {
    std::copy_n(x, n, y);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i * step_to] = x[i * step_from];
  }
}

// BOOL is read as a byte: any but 0 is true.
template <typename T>
void LoadBool(const std::byte* from, int64_t step_from, std::byte* to,
              int64_t step_to, int64_t n) {
  const uint8_t* x = reinterpret_cast<const uint8_t*>(from);
  T* y = reinterpret_cast<T*>(to);
  if (step_from == 1 && step_to == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(x[i] != 0 ? 1 : 0);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      y[i * step_to] = static_cast<T>(x[i * step_from] != 0 ? 1 : 0);
    }
  }
}

template <typename T>
using CarrierType = std::conditional_t<
    kIsFloat<T>, double,
    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

}  // namespace

DType ComputeTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFp16:
    case DType::kBf16:
    case DType::kFp32:
      return DType::kFp32;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kUint8:
    case DType::kUint16:
      return DType::kInt32;
    default:
      return CarrierOf(dtype);
  }
}

DType CarrierOf(DType dtype) {
  switch (dtype) {
    case DType::kFp16:
    case DType::kBf16:
    case DType::kFp32:
    case DType::kFp64:
      return DType::kFp64;
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return DType::kUint64;
    default:
      return DType::kInt64;
  }
}

Converter::Converter(DType from, DType to)
    : from_size_(ElementSize(from)), to_size_(ElementSize(to)) {
  copies_ = from == to;
  first_ = DirectLoop(from, to);
  if (first_ != nullptr) return;
  first_ = LoadLoop(from);
  if (to != CarrierOf(from)) second_ = StoreLoop(CarrierOf(from), to);
}

// The pairs worth a loop of their own: models' inputs and labels, and what
// kernels compute in.
Converter::Loop Converter::DirectLoop(DType from, DType to) {
  if (from == to) {
    switch (ElementSize(from)) {
      case 1:
        return CopyLoop<uint8_t>;
      case 2:
        return CopyLoop<uint16_t>;
      case 4:
        return CopyLoop<uint32_t>;
      default:
        return CopyLoop<uint64_t>;
    }
  }
  struct Pair {
    DType from;
    DType to;
    Loop loop;
  };
  static constexpr Pair kPairs[] = {
      {DType::kFp16, DType::kFp32, ConvertLoop<Half, float>},
      {DType::kBf16, DType::kFp32, ConvertLoop<BFloat16, float>},
      {DType::kFp32, DType::kFp16, ConvertLoop<float, Half>},
      {DType::kFp32, DType::kBf16, ConvertLoop<float, BFloat16>},
      {DType::kUint8, DType::kFp32, ConvertLoop<uint8_t, float>},
      {DType::kInt32, DType::kFp32, ConvertLoop<int32_t, float>},
      {DType::kInt64, DType::kFp32, ConvertLoop<int64_t, float>},
      {DType::kFp32, DType::kInt32, ConvertLoop<float, int32_t>},
      {DType::kFp32, DType::kInt64, ConvertLoop<float, int64_t>},
      {DType::kFp32, DType::kUint8, ConvertLoop<float, uint8_t>},
      {DType::kFp32, DType::kBool, ConvertLoop<float, bool>},
      {DType::kInt64, DType::kInt32, ConvertLoop<int64_t, int32_t>},
      {DType::kBool, DType::kFp32, LoadBool<float>},
      {DType::kInt8, DType::kInt32, ConvertLoop<int8_t, int32_t>},
      {DType::kInt16, DType::kInt32, ConvertLoop<int16_t, int32_t>},
      {DType::kUint8, DType::kInt32, ConvertLoop<uint8_t, int32_t>},
      {DType::kUint16, DType::kInt32, ConvertLoop<uint16_t, int32_t>},
      {DType::kInt32, DType::kInt8, ConvertLoop<int32_t, int8_t>},
      {DType::kInt32, DType::kInt16, ConvertLoop<int32_t, int16_t>},
      {DType::kInt32, DType::kUint8, ConvertLoop<int32_t, uint8_t>},
      {DType::kInt32, DType::kUint16, ConvertLoop<int32_t, uint16_t>},
      {DType::kInt64, DType::kBool, ConvertLoop<int64_t, bool>},
  };
  for (const Pair& pair : kPairs) {
    if (pair.from == from && pair.to == to) return pair.loop;
  }
  return nullptr;
}

Converter::Loop Converter::LoadLoop(DType from) {
  if (from == DType::kBool) return LoadBool<int64_t>;
  const auto loop = VisitNumber(from, [](auto tag) -> absl::StatusOr<Loop> {
    using T = typename decltype(tag)::type;
    return Loop{ConvertLoop<T, CarrierType<T>>};
  });
  return loop.value_or(nullptr);
}

Converter::Loop Converter::StoreLoop(DType carrier, DType to) {
  const auto loop =
      VisitNumberOrBool(to, [carrier](auto tag) -> absl::StatusOr<Loop> {
        using T = typename decltype(tag)::type;
        switch (carrier) {
          case DType::kFp64:
            return Loop{ConvertLoop<double, T>};
          case DType::kUint64:
            return Loop{ConvertLoop<uint64_t, T>};
          default:
            return Loop{ConvertLoop<int64_t, T>};
        }
      });
  return loop.value_or(nullptr);
}

void Converter::Run(const std::byte* from, int64_t step_from, std::byte* to,
                    int64_t step_to, int64_t n) const {
  if (second_ == nullptr) {
    first_(from, step_from, to, step_to, n);
    return;
  }
  ChunkBuffer carried;
  std::byte* const middle = carried.data();
  while (n > 0) {
    const int64_t part = std::min(n, kChunk);
    first_(from, step_from, middle, 1, part);
    second_(middle, 1, to, step_to, part);
    from += part * step_from * static_cast<int64_t>(from_size_);
    to += part * step_to * static_cast<int64_t>(to_size_);
    n -= part;
  }
}

void Converter::Gather(const std::byte* from, int64_t step, std::byte* to,
                       int64_t n) const {
  Run(from, step, to, 1, n);
}

void Converter::Scatter(const std::byte* from, std::byte* to, int64_t step,
                        int64_t n) const {
  Run(from, 1, to, step, n);
}

}  // namespace reprise::cpu
