// Cases of an operator as one model, its inputs, and its answers by plain
// loops.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/signature.h"
#include "tests/conformance/device/op_case.h"

namespace reprise::conformance {

// A graph of nodes that have nothing to do with each other, a case each.
// Inputs and outputs are in the order of the cases and their operands.
struct OpModel {
  std::vector<const OpCase*> cases;
  bool batched = false;
  std::shared_ptr<const graph::Graph> graph;
  Signature signature;
  // By case and operand: the elements of `max_rows` rows, or of the whole; null
  // for an optional input left out.
  std::vector<std::vector<std::shared_ptr<const HostTensor>>> operands;
  // By input of the graph: which of `operands` it is.
  struct At {
    size_t one = 0;
    size_t operand = 0;
  };
  std::vector<At> inputs;
};

// The cases of `group` with a batch, and those without; either may have none.
struct OpModels {
  OpModel batched;
  OpModel fixed;
};

// Which cases of a group are tried.
struct OpFilter {
  int64_t max_elements = int64_t{1} << 40;  // of a row of an operand
  bool narrow = false;  // FP32 is kept as something narrower
};

// Models of at most `max_rows` rows. As InferSignature fails.
absl::StatusOr<OpModels> MakeOpModels(const OpGroup& group, int max_rows,
                                      const OpFilter& filter);

// The first `rows` rows of a tensor.
std::span<const std::byte> RowsOf(const HostTensor& tensor, bool batched,
                                  int rows, int max_rows);

// The outputs of all cases, in order, by the plain loops that constants are
// folded with.
absl::StatusOr<std::vector<HostTensor>> ByPlainLoops(const OpModel& model,
                                                     const OpGroup& group,
                                                     int rows);

}  // namespace reprise::conformance
