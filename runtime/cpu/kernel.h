// What one step of a plan runs on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"

namespace reprise::cpu {

// Operands in the node's order: null where an optional input is absent or
// nobody reads an output. They point to whole tensors, whose dims the kernel
// has known since it was made.
struct KernelArgs {
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  std::byte* scratch = nullptr;  // 64-byte aligned
  // Set when a library refuses to run, which nothing here expects.
  bool* failed = nullptr;

  template <typename T>
  const T* in(size_t i) const {
    return i < inputs.size() ? reinterpret_cast<const T*>(inputs[i]) : nullptr;
  }
  template <typename T>
  T* out(size_t i) const {
    return i < outputs.size() ? reinterpret_cast<T*>(outputs[i]) : nullptr;
  }
};

// Everything that can fail has failed when the kernel was made: running it
// neither fails nor allocates. What its inputs' values cannot decide well is
// defined instead: an index out of range reads zeros and writes nothing, an
// integer divided by zero is zero.
//
// Threads: one call at a time, any thread.
struct Kernel {
  std::function<void(const KernelArgs&)> run;
  int64_t scratch_bytes = 0;
};

// Memory for the tables that kernels keep, which nobody else counts: taken from
// before a table is made.
class TableBudget {
 public:
  explicit TableBudget(int64_t bytes) : left_(bytes) {}

  // RESOURCE_EXHAUSTED: `bytes` are not left; nothing is taken.
  absl::Status Take(int64_t bytes) {
    if (bytes > left_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a table of ", bytes, " bytes is needed, and ", left_,
                       " bytes are free"));
    }
    left_ -= bytes;
    return absl::OkStatus();
  }

 private:
  int64_t left_;
};

// The node to make a kernel for, and the types of its outputs.
struct KernelRequest {
  const ops::NodeView& view;
  std::span<const ops::TensorType> outputs;
  TableBudget* tables = nullptr;  // null: not bounded
};

// The plain loop for a node, which defines the answer. UNIMPLEMENTED if there
// is none; INVALID_ARGUMENT as the readers of `ops`; RESOURCE_EXHAUSTED if a
// run would take more than kMaxPlainWork.
absl::StatusOr<Kernel> MakePlainKernel(const KernelRequest& request);

// Whether `op` has one at all, for some dtypes at least.
bool HasPlainKernel(absl::string_view op);

}  // namespace reprise::cpu
