// Strided copies of elements that are only moved.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "runtime/cuda/program.h"
#include "runtime/tensor/shape.h"

namespace reprise::cuda {

// The elements of a box of `dims`, from and to given strides and first
// elements, all in elements of `element_bytes` bytes.
struct Move {
  Dims dims = {};
  Dims from_strides = {};
  Dims to_strides = {};
  int64_t from = 0;
  int64_t to = 0;
  int64_t element_bytes = 1;
};

// Neighbours are moved by up to 16 bytes at once where both sides have them
// together; what is one block of bytes on both sides is a Copy; matrices that
// are turned over go through shared memory. No action for no elements.
// UNIMPLEMENTED as MakeWalk.
absl::StatusOr<std::optional<Action>> MoveAction(const Move& move,
                                                 plan::BufferId from,
                                                 plan::BufferId to);

}  // namespace reprise::cuda
