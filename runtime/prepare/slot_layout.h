// Where the tensors of one executable lie in a slot.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// Offsets from the start of a slot's memory, each a multiple of 64.
struct SlotLayout {
  struct Tensor {
    size_t offset = 0;
    size_t bytes = 0;      // of all rows
    size_t row_bytes = 0;  // bytes / rows
  };
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  size_t bytes = 0;
};

// For `rows` rows of a bound signature. INVALID_ARGUMENT on overflow.
absl::StatusOr<SlotLayout> MakeSlotLayout(const Signature& signature, int rows);

// The addresses of one slot's tensors.
struct SlotBuffers {
  std::span<std::byte* const> inputs;
  std::span<std::byte* const> outputs;
};

// One tensor as rows: row r is `row_bytes` bytes at data + r * row_bytes.
struct TensorRows {
  std::byte* data = nullptr;
  size_t row_bytes = 0;
};

// The tensors of a layout at their addresses, in the same order.
std::vector<TensorRows> RowsOf(std::span<const SlotLayout::Tensor> tensors,
                               std::span<std::byte* const> addresses);

}  // namespace reprise
