// One node with its inputs' values: what its plain loop makes of them, and a
// graph of it for a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/signature.h"

namespace reprise::testing {

// A tensor of the DType that T stands for.
template <typename T>
HostTensor TensorOf(DType dtype, Dims dims, const std::vector<T>& values) {
  HostTensor tensor = HostTensor::Create(dtype, std::move(dims)).value();
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.template values<T>()[i] = values[i];
  }
  return tensor;
}
HostTensor F32(Dims dims, const std::vector<float>& values);
HostTensor I64(Dims dims, const std::vector<int64_t>& values);
HostTensor I32(Dims dims, const std::vector<int32_t>& values);

// Looks random, the same for each seed.
class Sequence {
 public:
  explicit Sequence(unsigned seed) : state_(seed * 2654435761u + 12345u) {}
  // Of 24 bits.
  unsigned Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  // Between -1 and 1.
  float NextFloat() { return static_cast<float>(Next()) * 0x1p-23F - 1.0F; }

 private:
  unsigned state_;
};

// FP32 values of a Sequence between -1 and 1.
HostTensor Noise(Dims dims, unsigned seed);

// A graph of the node alone. `slot_inputs` are its inputs that are no weights:
// the node's own tensors, which are not to be written.
struct OneNodeGraph {
  graph::Graph graph;
  Signature signature;  // of the inputs
  std::vector<std::byte*> slot_inputs;
};

struct OneNode {
  graph::Node node;  // its operator, version and attributes
  std::vector<std::shared_ptr<const HostTensor>> inputs;  // null: left out
  int outputs = 1;

  // By the plain loop, with every input known. NOT_FOUND: there is no such
  // operator; else as its shapes' inference fails.
  absl::StatusOr<std::vector<HostTensor>> Evaluate() const;

  // Inputs of these indices are constants of the graph.
  OneNodeGraph MakeGraph(const std::set<size_t>& weights) const;
};

}  // namespace reprise::testing
