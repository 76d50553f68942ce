// What the implementations of nodes use to add steps to a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/program.h"
#include "runtime/cuda/weights.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"
#include "runtime/plan/plan.h"

namespace reprise::cuda {

// How neighbouring element-wise nodes are run.
enum class Chains {
  kNodeByNode,  // a kernel each
  kWritten,     // one kernel for all, whose code is written when it is lowered
};

struct LoweringOptions {
  Precision precision = Precision::kFp32;
  int arch = 90;             // compute capability, as sm_90 has it
  bool has_cublaslt = true;  // false: matrix products by our own plain kernel
  Chains chains = Chains::kNodeByNode;
  // Scratch that each matrix product is given, for its library to choose from.
  int64_t workspace_bytes = int64_t{32} << 20;
};

// Keeps, for every value of the graph, the buffer that holds it in the type
// that it is computed in: FP32 values are FP16 or BF16 where the precision says
// so, all others are what they are. Slot inputs and outputs have the model's
// own types: a cast is added the first time that an input is read in another,
// and at the end for an output that was made in another. Where the types are
// the same, outputs are written straight into the slot.
class LoweringContext {
 public:
  LoweringContext(const ops::BoundGraph& bound, CudaWeights& weights,
                  const LoweringOptions& options);

  const ops::BoundGraph& bound() const { return bound_; }
  const LoweringOptions& options() const { return options_; }
  CudaWeights& weights() { return weights_; }

  // What elements of `dtype` are between the slot's inputs and outputs.
  DType StoredAs(DType dtype) const;
  const Dims& DimsOf(graph::ValueId value) const;
  // StoredAs of the value's type.
  DType TypeOf(graph::ValueId value) const;

  // The value as TypeOf. INTERNAL if nothing made it; as CudaWeights::Add.
  absl::StatusOr<plan::BufferId> Read(graph::ValueId value);
  // A new buffer for an output of a node, as TypeOf; kNoBuffer for kNoValue.
  plan::BufferId Define(graph::ValueId value);
  // `value` has the bytes of `of`: no step is needed.
  absl::Status DefineView(graph::ValueId value, graph::ValueId of);

  // Whether matrix products alone read the value: then it may be kept with its
  // last two axes in the other order, which a product reads as well.
  bool IsForProductsAlone(graph::ValueId value) const;
  // Says so of a value that is defined, or tells.
  void SetTurned(graph::ValueId value) { StateOf(value).turned = true; }
  bool IsTurned(graph::ValueId value) const {
    return states_[graph::At(value)].turned;
  }

  // A constant that is no value of the graph, by its index in weights().
  plan::BufferId AddConstant(std::string name, int index);
  void AddStep(std::string name, std::vector<Action> actions,
               std::vector<plan::BufferId> reads,
               std::vector<plan::BufferId> writes, int64_t scratch_bytes = 0);

  // Code for a launch of the module's name; nothing if it is there already.
  void AddModule(GeneratedModule module);

  // Fills the slot outputs that have not been made in the slot; then hands the
  // program over, whose memory is not assigned yet.
  absl::StatusOr<Program> Finish();

 private:
  struct State {
    plan::BufferId stored = plan::kNoBuffer;  // as TypeOf
    plan::BufferId slot_input = plan::kNoBuffer;
    int output = -1;  // the first slot output that it is, if any
    bool turned = false;
  };

  State& StateOf(graph::ValueId value);
  const std::string& NameOf(graph::ValueId value) const;
  int64_t BytesOf(graph::ValueId value, DType dtype) const;
  DType ModelType(graph::ValueId value) const;
  plan::BufferId AddBuffer(plan::Buffer buffer);
  absl::StatusOr<plan::BufferId> ReadConstant(graph::ValueId value, DType as);
  void AddCast(graph::ValueId value, plan::BufferId from, DType from_type,
               plan::BufferId to, DType to_type);
  absl::Status FillOutput(int k);

  const ops::BoundGraph& bound_;
  CudaWeights& weights_;
  const LoweringOptions options_;
  const std::vector<std::vector<int>> consumers_;  // by value
  std::vector<State> states_;                      // by value
  Program program_;
};

// A way to run a node. Returns UNIMPLEMENTED, having added nothing, if the node
// is not for it, and then the next in the list is asked.
using LowerFn = absl::Status (*)(LoweringContext& context,
                                 const ops::NodeView& view);

}  // namespace reprise::cuda
