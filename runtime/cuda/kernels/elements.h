// Elements as kernels load, compute and store them. It compiles as device code
// and as plain C++, so that a host test can hold both to the same answers.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/cuda/kernels/params.h"

#ifdef __CUDACC__
#define REPRISE_BOTH __host__ __device__ inline
#else
#define REPRISE_BOTH inline
#endif

namespace reprise::kernels {

using Half = __half;
using BFloat16 = __nv_bfloat16;

// Any byte but 0 is true, whatever a client sent.
struct Bool {
  uint8_t byte;
};

// 16 bytes that are only moved.
struct alignas(16) Block16 {
  uint64_t word[2];
};

// What arithmetic on elements of T is done in: what leaves a narrow type is cut
// off in the end.
template <typename T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<Half> {
  using type = float;
};
template <>
struct ComputeOf<BFloat16> {
  using type = float;
};
template <>
struct ComputeOf<int8_t> {
  using type = int32_t;
};
template <>
struct ComputeOf<int16_t> {
  using type = int32_t;
};
template <>
struct ComputeOf<uint8_t> {
  using type = int32_t;
};
template <>
struct ComputeOf<uint16_t> {
  using type = int32_t;
};
template <>
struct ComputeOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct ComputeOf<Bool> {
  using type = int64_t;
};
template <typename T>
using Compute = typename ComputeOf<T>::type;

template <typename T>
inline constexpr bool kIsFloating = std::is_floating_point<T>::value;

// What host functions know, as values that device code may use.
template <typename T>
inline constexpr int kPackOf = PackOf(sizeof(T));
template <typename C>
inline constexpr C kLargest = std::numeric_limits<C>::max();
template <typename C>
inline constexpr C kLeast = std::numeric_limits<C>::lowest();

// Whether x is below 0, which unsigned numbers never are.
template <typename C>
REPRISE_BOTH bool IsNegative(C x) {
  if constexpr (std::is_unsigned<C>::value) {
    return false;
  } else {
    return x < C{0};
  }
}

// Integers never are.
template <typename C>
REPRISE_BOTH bool IsNan(C value) {
  if constexpr (kIsFloating<C>) {
    return value != value;
  } else {
    return false;
  }
}

// A float to an integer: clamped to its range, NaN to 0.
template <typename To, typename From>
REPRISE_BOTH To Clamped(From value) {
  if (IsNan(value)) return To{0};
  // The upper bound as a float may be one above the integer's maximum.
  if (static_cast<double>(value) >= static_cast<double>(kLargest<To>)) {
    return kLargest<To>;
  }
  if (static_cast<double>(value) <= static_cast<double>(kLeast<To>)) {
    return kLeast<To>;
  }
  return static_cast<To>(value);
}

// Any element to any other: 16-bit floats round to nearest even (by way of
// FP32), integers are cut off, floats are clamped to an integer's range.
template <typename To, typename From>
REPRISE_BOTH To Convert(From value) {
  if constexpr (std::is_same<To, From>::value) {
    return value;
  } else if constexpr (std::is_same<From, Half>::value) {
    return Convert<To>(__half2float(value));
  } else if constexpr (std::is_same<From, BFloat16>::value) {
    return Convert<To>(__bfloat162float(value));
  } else if constexpr (std::is_same<From, Bool>::value) {
    return Convert<To>(static_cast<int64_t>(value.byte != 0 ? 1 : 0));
  } else if constexpr (std::is_same<To, Half>::value) {
    return __float2half_rn(static_cast<float>(value));
  } else if constexpr (std::is_same<To, BFloat16>::value) {
    return __float2bfloat16_rn(static_cast<float>(value));
  } else if constexpr (std::is_same<To, Bool>::value) {
    return Bool{static_cast<uint8_t>(value != From{0} ? 1 : 0)};
  } else if constexpr (kIsFloating<From> && std::is_integral<To>::value) {
    return Clamped<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename T>
REPRISE_BOTH Compute<T> Load(const T& element) {
  return Convert<Compute<T>>(element);
}

// N elements that are loaded and stored at once.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
  T at[N];
};

// `step` is 1, or 0 where one element stands for all.
template <int N, typename T>
REPRISE_BOTH Pack<T, N> LoadPack(const T* from, int step) {
  if (step != 0) return *reinterpret_cast<const Pack<T, N>*>(from);
  Pack<T, N> pack;
  const T element = *from;
  for (int i = 0; i < N; ++i) pack.at[i] = element;
  return pack;
}

template <int N, typename T>
REPRISE_BOTH void StorePack(const Pack<T, N>& pack, T* to) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

}  // namespace reprise::kernels

// The element types with the names that entries have, by kind.
#define REPRISE_FLOATS(F) \
  F(f32, float)           \
  F(f16, Half)            \
  F(bf16, BFloat16)       \
  F(f64, double)
#define REPRISE_INTEGERS(F) \
  F(i32, int32_t)           \
  F(i64, int64_t)           \
  F(i8, int8_t)             \
  F(i16, int16_t)           \
  F(u8, uint8_t)            \
  F(u16, uint16_t)          \
  F(u32, uint32_t)          \
  F(u64, uint64_t)
#define REPRISE_NUMBERS(F) REPRISE_FLOATS(F) REPRISE_INTEGERS(F)
// Elements that are only moved, by their bytes.
#define REPRISE_BYTES(F) \
  F(b1, uint8_t)         \
  F(b2, uint16_t)        \
  F(b4, uint32_t)        \
  F(b8, uint64_t)        \
  F(b16, Block16)
