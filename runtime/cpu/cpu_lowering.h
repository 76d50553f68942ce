// A bound graph to the steps of a program, by ordered lists of implementations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/onednn.h"
#include "runtime/cpu/program.h"
#include "runtime/cpu/weights.h"
#include "runtime/ops/bound_graph.h"

namespace reprise::cpu {

struct LoweringOptions {
  int threads = 1;                // for programs that are worth sharing out
  bool use_onednn = true;         // false: plain loops only, the reference
  TableBudget* tables = nullptr;  // null: not bounded
};

// Steps and kernels for every live node, with memory assigned and checked.
// Primitives are prepared here. UNIMPLEMENTED names a node that nothing takes;
// INVALID_ARGUMENT as the readers of `ops`, with the node named.
absl::StatusOr<Program> Lower(const ops::BoundGraph& bound,
                              const std::shared_ptr<OneDnn>& dnn,
                              Weights& weights, const LoweringOptions& options);

// Roughly the multiplications and moves of one run; a small program is not
// worth sharing out over threads.
int64_t EstimateWork(const ops::BoundGraph& bound);

}  // namespace reprise::cpu
