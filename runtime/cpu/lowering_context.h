// What the implementations of nodes use to add steps to a program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cpu/onednn.h"
#include "runtime/cpu/program.h"
#include "runtime/cpu/weights.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"
#include "runtime/plan/plan.h"

namespace reprise::cpu {

// Keeps, for every value of the graph, the buffers that hold it: row-major, and
// in other layouts. A node asks for its inputs in the layout that it wants, and
// a copying step is added the first time that one is missing; it defines its
// outputs in the layout that it makes.
class LoweringContext {
 public:
  LoweringContext(const ops::BoundGraph& bound, std::shared_ptr<OneDnn> dnn,
                  Weights& weights);

  const ops::BoundGraph& bound() const { return bound_; }
  const std::shared_ptr<OneDnn>& dnn() const { return dnn_; }
  Weights& weights() { return weights_; }

  // The value in row-major order. INTERNAL if nothing made it.
  absl::StatusOr<plan::BufferId> Plain(graph::ValueId value);
  // The value (FP32) in `layout`. As Guarded.
  absl::StatusOr<plan::BufferId> In(graph::ValueId value, const Layout& layout);
  // The layout in which the value was made (FP32 only): what is read without a
  // copy.
  absl::StatusOr<Layout> MadeIn(graph::ValueId value) const;
  // Whether the value was made in another than the row-major layout.
  bool IsBlocked(graph::ValueId value) const;

  // New buffers for an output of a node: graph outputs lie in the slot.
  plan::BufferId Define(graph::ValueId value);
  plan::BufferId DefineIn(graph::ValueId value, const Layout& layout);
  // `value` has the bytes of `of`, row-major: no step is needed.
  absl::Status DefineView(graph::ValueId value, graph::ValueId of);

  // A constant that is not a value of the graph, such as packed weights.
  plan::BufferId AddConstant(std::string name, const std::byte* data,
                             int64_t bytes);
  void AddStep(std::string name, Kernel kernel,
               std::vector<plan::BufferId> reads,
               std::vector<plan::BufferId> writes);

  // Copies to the slot what has not been made there; then hands the program
  // over.
  absl::StatusOr<Program> Finish();

 private:
  struct State {
    plan::BufferId plain = plan::kNoBuffer;
    bool blocked = false;  // made in the first of `layouts`, not row-major
    std::vector<std::pair<Layout, plan::BufferId>> layouts;
    int output = -1;  // the slot output that it is, if any
  };

  const std::string& NameOf(graph::ValueId value) const;
  int64_t BytesOf(graph::ValueId value) const;
  plan::BufferId AddBuffer(plan::Buffer buffer);
  absl::Status FillOutput(int k);

  const ops::BoundGraph& bound_;
  std::shared_ptr<OneDnn> dnn_;
  Weights& weights_;
  std::vector<State> states_;  // by value
  Program program_;
};

// A way to run a node. Returns UNIMPLEMENTED, having added nothing, if the node
// is not for it, and then the next in the list is asked.
using LowerFn = absl::Status (*)(LoweringContext& context,
                                 const ops::NodeView& view);

}  // namespace reprise::cpu
