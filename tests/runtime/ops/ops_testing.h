// Nodes and graphs for tests of operators, without a file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/shape.h"

namespace reprise::testing {

HostTensor FloatTensor(const Dims& dims, const std::vector<float>& values);
HostTensor Int64Tensor(const Dims& dims, const std::vector<int64_t>& values);

// One node with typed inputs, some of them known.
class NodeCase {
 public:
  NodeCase(std::string op, int version);

  NodeCase& In(Dims dims, DType dtype = DType::kFp32);
  NodeCase& Known(HostTensor tensor);
  NodeCase& Ints(const std::vector<int64_t>& values);  // INT64, 1-D, known
  NodeCase& Absent();
  NodeCase& Outputs(int count);
  template <typename T>
  NodeCase& Set(const std::string& name, T value) {
    node_.attributes.Set(name, std::move(value));
    return *this;
  }

  // Valid until the next call of In, Known or Absent.
  const ops::NodeView& view();
  // The types that the operator table gives.
  absl::StatusOr<std::vector<ops::TensorType>> Infer();
  // Of output 0; fails the test, and gives [-99], if Infer fails.
  Dims OutDims();

 private:
  graph::Node node_;
  std::deque<ops::TensorType> types_;
  std::deque<HostTensor> constants_;
  ops::NodeView view_;
};

// Output `i` of a node that is carried through shape inference, its elements as
// INT64; {-999} if the node is not carried.
std::vector<int64_t> Carry(NodeCase& node, size_t i = 0);

// A graph, value by value; names tie it together.
class GraphBuilder {
 public:
  explicit GraphBuilder(int opset = 17) : opset_(opset) {}

  // kFreeDim dims take their symbol from `symbols`, by position.
  GraphBuilder& Input(const std::string& name, Dims dims,
                      std::vector<std::string> symbols = {},
                      DType dtype = DType::kFp32);
  GraphBuilder& Constant(const std::string& name, HostTensor tensor);
  GraphBuilder& Ints(const std::string& name,
                     const std::vector<int64_t>& values);
  // "" is an absent input or output.
  GraphBuilder& Node(const std::string& op,
                     const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs);
  template <typename T>
  GraphBuilder& Set(const std::string& name, T value) {
    graph_.nodes.back().attributes.Set(name, std::move(value));
    return *this;
  }
  GraphBuilder& Output(const std::string& name);
  GraphBuilder& Output(const std::string& name, Dims declared);

  graph::Graph Build() const { return graph_; }

 private:
  graph::ValueId Id(const std::string& name);

  int opset_;
  graph::Graph graph_;
};

// Why the graph's rows are not independent; "" if they are.
std::string WhyNotBatched(const graph::Graph& graph);

// Of a graph with input "x" [N, dims...] and output "y".
std::string WhyNotBatched(const GraphBuilder& builder);

}  // namespace reprise::testing
