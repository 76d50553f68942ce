// A task that nobody answers, for measuring what handles tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/time/time.h"
#include "runtime/batch/infer_task.h"

namespace reprise::bench {

class BenchTask final : public InferTask {
 public:
  void Complete(TaskResult /*result*/) override {}
};

// Gives `task` one input: `row_bytes` for each of `rows` rows out of `data`, in
// `pieces` pieces of one size.
inline void SetInput(BenchTask& task, std::span<const std::byte> data, int rows,
                     size_t row_bytes, size_t pieces = 1) {
  task.rows = rows;
  task.inputs.clear();
  InputRows input;
  const size_t bytes = static_cast<size_t>(rows) * row_bytes;
  for (size_t i = 0; i < pieces; ++i) {
    input.pieces.push_back(data.subspan(i * bytes / pieces, bytes / pieces));
  }
  input.bytes = static_cast<int64_t>(bytes);
  task.bytes = input.bytes;
  task.inputs.push_back(input);
}

}  // namespace reprise::bench
