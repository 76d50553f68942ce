// A model as data: values, nodes, weights. No I/O, no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/graph/attributes.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/shape.h"

namespace reprise::graph {

// Index into Graph::values.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an optional input left out

// `id`, which is not kNoValue, as an index of a vector.
inline size_t At(ValueId id) { return static_cast<size_t>(id); }

struct Value {
  std::string name;
  DType dtype = DType::kFp32;  // of graph inputs and constants; else a hint
  // Declared dims: kFreeDim where the model gives a symbol or nothing, and then
  // `symbols[i]` is the symbol's name ("" if the model has none). Meaningful
  // for graph inputs, outputs and constants only; `has_shape` says whether the
  // model declared any.
  bool has_shape = false;
  Dims dims;
  std::vector<std::string> symbols;
  // Set for initialisers and folded values: the value never changes.
  std::shared_ptr<const HostTensor> constant;
};

// One operator. `op` is the ONNX operator's name ("Conv"), whose meaning is
// that of opset `version` of `domain` ("" is ai.onnx). Fused forms keep the
// name of their main operator and carry extra attributes and inputs, described
// in runtime/ops beside that operator.
struct Node {
  std::string name;  // the model's own, may be empty
  std::string op;
  std::string domain;
  int version = 0;  // of the opset that the model imports for `domain`
  int index = 0;    // position in the file, for error messages
  std::vector<ValueId> inputs;   // kNoValue for absent optional ones
  std::vector<ValueId> outputs;  // kNoValue for outputs nobody named
  Attributes attributes;
};

// Nodes are in topological order and every value has at most one producer.
struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;  // true inputs only: no initialisers
  std::vector<ValueId> outputs;
  // Inputs of the model that have a default value, and are constants here.
  std::vector<std::string> defaulted_inputs;
};

// What a free dim of a value is called: its symbol, or "x[0]" where the model
// gives it none.
std::string SymbolOf(const Value& value, size_t axis);

// "node 12 'conv1' (Conv)": how errors name a node.
std::string NodeText(const Node& node);

// For each value, the index of the node that makes it; -1 for inputs and
// constants.
std::vector<int> Producers(const Graph& graph);

// For each value, the indices of the nodes that read it, ascending.
std::vector<std::vector<int>> Consumers(const Graph& graph);

}  // namespace reprise::graph
