// The constants of one model in host memory, and their repacked copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cpu/onednn.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::cpu {

// A constant is used where the graph holds it. What a primitive wants in other
// blocks, or scaled, is copied once, whatever number of rungs and variants use
// it, and counted.
//
// Threads: one at a time (LoadedModel::Prepare is).
class Weights {
 public:
  // `graph` must outlive it.
  explicit Weights(const graph::Graph& graph);

  // A copy of `tensor`, whose elements lie as `from` says, in the layout `to`
  // and multiplied by `scale`. Lives as long as this. RESOURCE_EXHAUSTED and
  // UNIMPLEMENTED as Guarded.
  absl::StatusOr<const std::byte*> Packed(
      OneDnn& dnn, const std::shared_ptr<const HostTensor>& tensor,
      const Layout& from, const Layout& to, float scale);

  int64_t bytes() const { return bytes_; }

 private:
  struct Copy {
    std::shared_ptr<const HostTensor> tensor;  // kept: its address is the key
    Layout from;
    Layout to;
    float scale;
    std::unique_ptr<AlignedBuffer> buffer;
  };

  std::vector<Copy> copies_;
  int64_t bytes_ = 0;
};

}  // namespace reprise::cpu
