#include "runtime/ops/fuse.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/topology.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/norm.h"

namespace reprise::ops {
namespace {

using graph::At;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// Why a follower is not taken in; empty when it was.
using Reason = std::string;

class Fuser {
 public:
  Fuser(Graph& graph, const FuseOptions& options)
      : graph_(graph),
        options_(options),
        consumers_(graph::Consumers(graph)),
        is_output_(graph.values.size(), false),
        gone_(graph.nodes.size(), false) {
    for (const ValueId id : graph.outputs) is_output_[At(id)] = true;
  }

  absl::StatusOr<std::vector<FuseNote>> Run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::string& op = graph_.nodes[i].op;
      if (op != "Conv" && op != "Gemm" && op != "MatMul") continue;
      while (!gone_[i]) {
        REPRISE_ASSIGN_OR_RETURN(const bool again, Step(static_cast<int>(i)));
        if (!again) break;
      }
    }
    std::vector<Node> kept;
    for (size_t i = 0; i < gone_.size(); ++i) {
      if (!gone_[i]) kept.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(kept);
    // A node now stands where its inputs are made, but what it took over from
    // its followers may be made later.
    REPRISE_RETURN_IF_ERROR(graph::SortNodes(graph_));
    graph::DropUnusedValues(graph_);
    return std::move(notes_);
  }

 private:
  Node& NodeAt(int index) { return graph_.nodes[At(index)]; }
  const HostTensor* Constant(const Node& node, size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input] == kNoValue) {
      return nullptr;
    }
    return graph_.values[At(node.inputs[input])].constant.get();
  }
  static bool HasInput(const Node& node, size_t input) {
    return input < node.inputs.size() && node.inputs[input] != kNoValue;
  }

  // Tries to take in what follows `index`; true if it did.
  absl::StatusOr<bool> Step(int index) {
    Node& node = NodeAt(index);
    if (node.outputs.size() != 1 || node.attributes.Has("activation")) {
      return false;
    }
    const std::vector<int> readers = consumers_[At(node.outputs[0])];
    if (readers.size() == 2) return TrySilu(index, readers);
    if (readers.empty()) return false;
    const int next = readers[0];
    const std::string& op = NodeAt(next).op;
    std::optional<Reason> (Fuser::*attempt)(int, int) = nullptr;
    bool allowed = options_.activation;
    if (op == "Add") {
      attempt = &Fuser::TryBias;
      allowed = options_.bias;
    } else if (op == "BatchNormalization") {
      attempt = &Fuser::TryBatchNorm;
      allowed = options_.batch_norm;
    } else if (IsActivation(op)) {
      attempt = &Fuser::TryActivation;
    } else {
      return false;
    }
    Reason reason = Obstacle(node.outputs[0], readers, allowed);
    if (reason.empty()) reason = (this->*attempt)(index, next).value_or("");
    const bool fused = reason.empty();
    notes_.push_back({graph::NodeText(node), graph::NodeText(NodeAt(next)),
                      fused, std::move(reason)});
    if (fused) Absorb(index, next);
    return fused;
  }

  Reason Obstacle(ValueId between, const std::vector<int>& readers,
                  bool allowed) const {
    if (!allowed) return "switched off";
    if (is_output_[At(between)]) {
      return "the value between is an output of the model";
    }
    if (readers.size() > 1) {
      return "the value between has other readers";
    }
    return "";
  }

  // `index` makes what `next` made; `next` is gone.
  void Absorb(int index, int next) {
    NodeAt(index).outputs = NodeAt(next).outputs;
    gone_[At(next)] = true;
  }

  // A new constant for `index`'s input `input`.
  void SetConstant(Node& node, size_t input, HostTensor tensor,
                   absl::string_view name) {
    graph::Value value;
    value.name = absl::StrCat(name, "/fused");
    value.dtype = tensor.dtype();
    value.has_shape = true;
    value.dims = tensor.dims();
    value.symbols.resize(value.dims.size());
    value.constant = std::make_shared<const HostTensor>(std::move(tensor));
    while (node.inputs.size() <= input) node.inputs.push_back(kNoValue);
    node.inputs[input] = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back(std::move(value));
    is_output_.push_back(false);
    consumers_.emplace_back();
  }

  static absl::StatusOr<HostTensor> FloatVector(
      const std::vector<float>& values) {
    REPRISE_ASSIGN_OR_RETURN(
        HostTensor tensor,
        HostTensor::Create(DType::kFp32,
                           Dims{static_cast<int64_t>(values.size())}));
    std::copy(values.begin(), values.end(), tensor.values<float>().begin());
    return tensor;
  }

  // Channels of the output, from constant FP32 weights: 0 if they are not that.
  int64_t Channels(const Node& node) const {
    const HostTensor* weights = Constant(node, 1);
    if (weights == nullptr || weights->dtype() != DType::kFp32) return 0;
    const Dims& dims = weights->dims();
    if (node.op == "Conv") return dims.size() < 3 ? 0 : dims[0];
    if (dims.size() != 2) return 0;
    const absl::StatusOr<int64_t> trans = node.attributes.Int("transB", 0);
    return node.op == "Gemm" && trans.ok() && *trans != 0 ? dims[0] : dims[1];
  }

  // `tensor`'s values, one per channel, if adding it to the output of `node`
  // adds the same number all over a channel and changes no dim.
  static std::optional<std::vector<float>> PerChannel(const Node& node,
                                                      const HostTensor& weights,
                                                      const HostTensor& tensor,
                                                      int64_t channels) {
    if (tensor.dtype() != DType::kFp32) return std::nullopt;
    const Dims& dims = tensor.dims();
    const bool conv = node.op == "Conv";
    // Axes from the end: where the channels are, and how many there can be. The
    // rank of MatMul's output is not known, so its bias may only be [n].
    const size_t channel = conv ? weights.dims().size() - 2 : 0;
    const size_t rank = conv                ? weights.dims().size()
                        : node.op == "Gemm" ? size_t{2}
                                            : size_t{1};
    if (dims.size() > rank) return std::nullopt;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t extent = dims[dims.size() - 1 - i];
      if (extent != 1 && (i != channel || extent != channels)) {
        return std::nullopt;
      }
    }
    const std::span<const float> values = tensor.values<float>();
    std::vector<float> out(values.begin(), values.end());
    if (out.size() == 1) out.assign(static_cast<size_t>(channels), out[0]);
    if (static_cast<int64_t>(out.size()) != channels) return std::nullopt;
    return out;
  }

  // The bias that `node` has now, zeros without one; nullopt if it is not a
  // constant per channel.
  std::optional<std::vector<float>> CurrentBias(const Node& node,
                                                int64_t channels) const {
    if (!HasInput(node, 2)) {
      return std::vector<float>(static_cast<size_t>(channels), 0.0f);
    }
    const HostTensor* bias = Constant(node, 2);
    if (bias == nullptr) return std::nullopt;
    if (node.op == "Conv") {  // [M], not broadcast from the right
      if (bias->dtype() != DType::kFp32 || bias->dims() != Dims{channels}) {
        return std::nullopt;
      }
      const std::span<const float> values = bias->values<float>();
      return std::vector<float>(values.begin(), values.end());
    }
    return PerChannel(node, *Constant(node, 1), *bias, channels);
  }

  std::optional<Reason> TryBias(int index, int next) {
    Node& node = NodeAt(index);
    const Node& add = NodeAt(next);
    const size_t other = add.inputs[0] == node.outputs[0] ? 1 : 0;
    const HostTensor* addend = Constant(add, other);
    if (addend == nullptr) return "what is added is not a constant";
    const int64_t channels = Channels(node);
    if (channels == 0) return "the weights are not FP32 constants";
    const auto added = PerChannel(node, *Constant(node, 1), *addend, channels);
    if (!added.has_value()) return "what is added is not one number a channel";
    std::optional<std::vector<float>> bias = CurrentBias(node, channels);
    if (!bias.has_value()) return "there is another bias";
    const absl::StatusOr<float> beta = node.attributes.Float("beta", 1);
    if (node.op == "Gemm" && (!beta.ok() || *beta < 1 || *beta > 1)) {
      if (HasInput(node, 2)) return "the bias is scaled";
      node.attributes.Set("beta", 1.0f);
    }
    for (size_t i = 0; i < bias->size(); ++i) (*bias)[i] += (*added)[i];
    absl::StatusOr<HostTensor> tensor = FloatVector(*bias);
    if (!tensor.ok()) return std::string(tensor.status().message());
    SetConstant(node, 2, *std::move(tensor),
                graph_.values[At(add.inputs[other])].name);
    return std::nullopt;
  }

  // Conv's weights and bias times the normalisation's scale.
  struct Scaled {
    std::vector<float> weights;
    std::vector<float> bias;
  };

  static std::optional<Scaled> Scale(const HostTensor& weights,
                                     const std::vector<float>& bias,
                                     const std::vector<const HostTensor*>& bn,
                                     double epsilon) {
    const std::span<const float> w = weights.values<float>();
    Scaled out{std::vector<float>(w.begin(), w.end()), bias};
    const size_t row = out.weights.size() / bias.size();
    for (size_t c = 0; c < bias.size(); ++c) {
      const double gain = bn[0]->values<float>()[c];
      const double shift = bn[1]->values<float>()[c];
      const double mean = bn[2]->values<float>()[c];
      const double variance = bn[3]->values<float>()[c];
      const double factor = gain / std::sqrt(variance + epsilon);
      for (size_t i = c * row; i < (c + 1) * row; ++i) {
        out.weights[i] = static_cast<float>(out.weights[i] * factor);
        if (!std::isfinite(out.weights[i])) return std::nullopt;
      }
      out.bias[c] = static_cast<float>((bias[c] - mean) * factor + shift);
      if (!std::isfinite(out.bias[c])) return std::nullopt;
    }
    return out;
  }

  std::optional<Reason> TryBatchNorm(int index, int next) {
    Node& node = NodeAt(index);
    const Node& norm = NodeAt(next);
    if (node.op != "Conv") return "only Conv takes in a BatchNormalization";
    if (norm.inputs[0] != node.outputs[0]) return "it reads it as a parameter";
    const int64_t channels = Channels(node);
    if (channels == 0) return "the weights are not FP32 constants";
    std::vector<const HostTensor*> bn;
    for (size_t i = 1; i < 5; ++i) {
      bn.push_back(Constant(norm, i));
      if (bn.back() == nullptr || bn.back()->dtype() != DType::kFp32 ||
          bn.back()->dims() != Dims{channels}) {
        return absl::StrCat("input ", i,
                            " of it is not an FP32 constant per channel");
      }
    }
    NodeView view;
    view.node = &norm;
    const TensorType data{DType::kFp32, Constant(node, 1)->dims()};
    view.types.push_back(&data);
    const absl::StatusOr<BatchNormParams> params = ReadBatchNorm(view);
    if (!params.ok()) return std::string(params.status().message());
    const auto bias = CurrentBias(node, channels);
    if (!bias.has_value()) return "the bias is not a constant";
    const HostTensor& weights = *Constant(node, 1);
    const auto scaled = Scale(weights, *bias, bn, params->epsilon);
    if (!scaled.has_value()) return "the scaled weights are not finite";
    absl::StatusOr<HostTensor> new_weights =
        HostTensor::Create(DType::kFp32, weights.dims());
    absl::StatusOr<HostTensor> new_bias = FloatVector(scaled->bias);
    if (!new_weights.ok() || !new_bias.ok()) return "out of memory";
    std::copy(scaled->weights.begin(), scaled->weights.end(),
              new_weights->values<float>().begin());
    const std::string name = graph_.values[At(node.inputs[1])].name;
    SetConstant(node, 1, *std::move(new_weights), name);
    SetConstant(node, 2, *std::move(new_bias), absl::StrCat(name, "/bias"));
    return std::nullopt;
  }

  static bool IsActivation(absl::string_view op) {
    return KindOf(op) != ActivationKind::kNone;
  }

  static ActivationKind KindOf(absl::string_view op) {
    for (const ActivationKind kind :
         {ActivationKind::kRelu, ActivationKind::kLeakyRelu,
          ActivationKind::kClip, ActivationKind::kSigmoid,
          ActivationKind::kTanh, ActivationKind::kHardSigmoid,
          ActivationKind::kHardSwish}) {
      if (op == ActivationName(kind)) return kind;
    }
    return ActivationKind::kNone;
  }

  std::optional<Reason> TryActivation(int index, int next) {
    Node& node = NodeAt(index);
    const Node& follower = NodeAt(next);
    if (Channels(node) == 0) return "the weights are not FP32 constants";
    if (follower.inputs[0] != node.outputs[0]) {
      return "it reads it as a parameter";
    }
    NodeView view;
    view.node = &follower;
    const TensorType scalar{DType::kFp32, {}};
    for (size_t i = 0; i < follower.inputs.size(); ++i) {
      view.types.push_back(follower.inputs[i] == kNoValue ? nullptr : &scalar);
      view.constants.push_back(Constant(follower, i));
    }
    Activation activation{KindOf(follower.op), 0, 0};
    if (activation.kind == ActivationKind::kClip) {
      const absl::StatusOr<ClipParams> clip = ReadClip(view);
      if (!clip.ok()) return std::string(clip.status().message());
      if (!(clip->low <= clip->high)) return "its bounds are reversed";
      activation.alpha = static_cast<float>(clip->low);
      activation.beta = static_cast<float>(clip->high);
    } else if (activation.kind == ActivationKind::kHardSwish) {
      activation.alpha = 1.0f / 6.0f;
      activation.beta = 0.5f;
    } else {
      const absl::StatusOr<UnaryParams> params = ReadUnary(view);
      if (!params.ok()) return std::string(params.status().message());
      activation.alpha = params->alpha;
      activation.beta = params->beta;
    }
    SetActivation(activation, node);
    return std::nullopt;
  }

  // x * Sigmoid(x): two readers, one of which reads the other.
  absl::StatusOr<bool> TrySilu(int index, const std::vector<int>& readers) {
    Node& node = NodeAt(index);
    const int sigmoid =
        NodeAt(readers[0]).op == "Sigmoid" ? readers[0] : readers[1];
    const int mul = sigmoid == readers[0] ? readers[1] : readers[0];
    const ValueId x = node.outputs[0];
    if (NodeAt(sigmoid).op != "Sigmoid" || NodeAt(mul).op != "Mul") {
      return false;
    }
    const ValueId s = NodeAt(sigmoid).outputs[0];
    const std::vector<ValueId>& in = NodeAt(mul).inputs;
    const bool product =
        (in[0] == x && in[1] == s) || (in[0] == s && in[1] == x);
    Reason reason;
    if (!options_.activation) {
      reason = "switched off";
    } else if (!product || is_output_[At(x)] || is_output_[At(s)] ||
               consumers_[At(s)].size() != 1) {
      reason = "a value between has other readers or is an output";
    } else if (Channels(node) == 0) {
      reason = "the weights are not FP32 constants";
    }
    const bool fused = reason.empty();
    notes_.push_back({graph::NodeText(node), graph::NodeText(NodeAt(mul)),
                      fused, std::move(reason)});
    if (!fused) return false;
    SetActivation({ActivationKind::kSilu, 0, 0}, node);
    gone_[At(sigmoid)] = true;
    Absorb(index, mul);
    return true;
  }

  Graph& graph_;
  const FuseOptions& options_;
  std::vector<std::vector<int>> consumers_;  // by value, of the graph as it was
  std::vector<bool> is_output_;
  std::vector<bool> gone_;
  std::vector<FuseNote> notes_;
};

}  // namespace

absl::StatusOr<std::vector<FuseNote>> Fuse(Graph& graph,
                                           const FuseOptions& options) {
  return Fuser(graph, options).Run();
}

}  // namespace reprise::ops
