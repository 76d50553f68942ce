// A graph with every dim bound: what a device lowers for one rung.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/signature.h"

namespace reprise::ops {

// Axes of any tensor: what is made for a node, and walks over it, has arrays
// of fixed length.
inline constexpr int kMaxRank = 8;

struct TensorType {
  DType dtype = DType::kFp32;
  Dims dims;
};

// The bytes of a value of `type`. UNIMPLEMENTED if it has more than kMaxRank
// axes; INVALID_ARGUMENT if its bytes cannot be counted.
absl::StatusOr<int64_t> BytesOf(const TensorType& type);

// The graph of one rung of one variant. Indexed by graph::ValueId and by node.
struct BoundGraph {
  const graph::Graph* graph = nullptr;  // borrowed
  std::vector<TensorType> types;        // of every value that exists
  // Values known now: initialisers, and what value-carrying shape inference
  // found (Shape of a bound tensor and arithmetic on it). Null elsewhere.
  std::vector<std::shared_ptr<const HostTensor>> constants;
  // False for nodes whose outputs are all known or read by nobody: they are
  // not lowered.
  std::vector<bool> live;
};

// Binds axis 0 of every input to `rows` (when `signature.batched`) and the free
// symbols to `variant`, then infers every dtype and shape, carrying small
// integer values (at most 1,024 elements, and 16 MiB of those that are longer
// than a shape) through the operators that compute shapes.
// INVALID_ARGUMENT: dims that do not fit, with the node named; UNIMPLEMENTED:
// an operator or a data-dependent shape that Reprise does not run, named
// likewise.
absl::StatusOr<BoundGraph> Bind(const graph::Graph& graph,
                                const Signature& signature, int rows,
                                std::span<const int64_t> variant);

}  // namespace reprise::ops
