// Rows of elements turned from one dtype into another.
//
// Kernels are compiled for few dtypes (ComputeTypeOf); the rows of the others
// pass through a buffer on their way in and out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/tensor/dtype.h"

namespace reprise::cpu {

// Elements that a kernel buffers at a time.
inline constexpr int64_t kChunk = 256;

// One operand's chunk, whatever its dtype. Its contents are not initialised.
struct alignas(64) ChunkBuffer
    : std::array<std::byte, kChunk * sizeof(uint64_t)> {};

// The dtype that element-wise kernels compute in: FP32 for the 16-bit floats,
// INT32 for integers of 8 and 16 bits, INT64 for BOOL, UINT64 for UINT32. The
// others stand for themselves. Wrapping around and cutting off afterwards is
// the arithmetic of the narrow type.
DType ComputeTypeOf(DType dtype);

// The widest dtype of the same kind: FP64, INT64 or UINT64. It holds every
// element of `dtype` exactly.
DType CarrierOf(DType dtype);

// Turns numbers and BOOL into numbers or BOOL. What does not fit an integer is
// clamped to its range if it was a float, NaN becomes 0, and integers are cut
// off. BOOL becomes 0 or 1 whatever bytes it is read from, unless it stays
// BOOL.
class Converter {
 public:
  Converter() = default;  // converts nothing
  // Neither dtype may be kString.
  Converter(DType from, DType to);

  // Whether elements are copied as they are.
  bool copies() const { return copies_; }
  size_t from_size() const { return from_size_; }
  size_t to_size() const { return to_size_; }

  // `n` elements, `step` apart in what is read, written one after the other.
  void Gather(const std::byte* from, int64_t step, std::byte* to,
              int64_t n) const;
  // `n` elements, one after the other in what is read, written `step` apart.
  void Scatter(const std::byte* from, std::byte* to, int64_t step,
               int64_t n) const;

  // The same elements, one after the other: where they lie if they are that
  // already, else in `buffer`, which has room for n <= kChunk of them.
  const std::byte* Read(const std::byte* from, int64_t step, int64_t n,
                        ChunkBuffer& buffer) const {
    if (copies_ && (step == 1 || n == 1)) return from;
    Gather(from, step, buffer.data(), n);
    return buffer.data();
  }

 private:
  // Both sides strided, in elements.
  using Loop = void (*)(const std::byte* from, int64_t step_from, std::byte* to,
                        int64_t step_to, int64_t n);
  static Loop DirectLoop(DType from, DType to);
  static Loop LoadLoop(DType from);
  static Loop StoreLoop(DType carrier, DType to);

  void Run(const std::byte* from, int64_t step_from, std::byte* to,
           int64_t step_to, int64_t n) const;

  Loop first_ = nullptr;
  Loop second_ = nullptr;  // null: the first goes all the way
  size_t from_size_ = 1;
  size_t to_size_ = 1;
  bool copies_ = false;
};

}  // namespace reprise::cpu
