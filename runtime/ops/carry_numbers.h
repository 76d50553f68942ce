// Small tensors as numbers: what carrying values through shape inference
// computes with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::ops {

// The outputs of a carried node; empty if it cannot be carried after all.
using Tensors = std::vector<HostTensor>;

// BOOL, INT32, INT64 and FP32.
bool Carried(DType dtype);

// Numbers of one tensor: integers (and BOOL) exactly, FP32 as double.
struct Numbers {
  bool real = false;
  std::vector<int64_t> ints;
  std::vector<double> reals;
  size_t size() const { return real ? reals.size() : ints.size(); }
};

Numbers Load(const HostTensor& tensor);

// A tensor of `type`, which has as many elements. Reals become integers by
// truncation, clamped to the type's range; NaN is 0. Integers wrap around.
absl::StatusOr<Tensors> Store(const Numbers& numbers, const TensorType& type);

// For each element of `out`, the element of a tensor of `dims` that broadcasts
// to it.
std::vector<size_t> BroadcastIndex(const Dims& dims, const Dims& out);

// The numbers of `tensor` broadcast to `out`.
Numbers Broadcast(const HostTensor& tensor, const Dims& out);

// A tensor of `type` whose element i is element index[i] of `in`, whatever the
// elements are.
absl::StatusOr<Tensors> Move(const HostTensor& in, const TensorType& type,
                             const std::vector<size_t>& index);

}  // namespace reprise::ops
