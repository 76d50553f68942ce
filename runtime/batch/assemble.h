// Rows into a slot, and out of it again.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "runtime/batch/infer_task.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// Bytes of one row of `spec`, every dim of which is bound.
size_t RowBytes(const TensorSpec& spec);

// The host side of one input of a slot: all rows of the largest rung.
struct InputBuffer {
  std::span<std::byte> bytes;
  size_t row_bytes = 0;
};

// Copies all rows of `task` to rows [first_row, first_row + task.rows) of the
// slot: the one host copy on the way in. INVALID_ARGUMENT, and nothing is
// outside of those rows, if the task's inputs are not as many as the buffers or
// one does not have exactly the bytes of its rows (names the input);
// OUT_OF_RANGE if the slot has no such rows.
absl::Status Gather(const InferTask& task, std::span<const InputBuffer> inputs,
                    int first_row, const Signature& signature);

// Makes rows [first_row, first_row + rows) copies of row `from`: what a request
// that left its batch leaves behind.
void RepeatRow(std::span<const InputBuffer> inputs, int from, int first_row,
               int rows);

}  // namespace reprise
