#include "runtime/cuda/ops/chain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/ops/walk.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/node_view.h"

namespace reprise::cuda {
namespace {

constexpr size_t kMaxLinks = 24;

bool IsSmallFloat(DType dtype) {
  return dtype == DType::kFp32 || dtype == DType::kFp16 ||
         dtype == DType::kBf16;
}

struct Function {
  absl::string_view op;
  ChainOp link;
};
constexpr Function kOfTwo[] = {{"Add", ChainOp::kAdd}, {"Sum", ChainOp::kAdd},
                               {"Sub", ChainOp::kSub}, {"Mul", ChainOp::kMul},
                               {"Div", ChainOp::kDiv}, {"Max", ChainOp::kMax},
                               {"Min", ChainOp::kMin}};
constexpr Function kOfOne[] = {{"Neg", ChainOp::kNeg},
                               {"Abs", ChainOp::kAbs},
                               {"Relu", ChainOp::kRelu},
                               {"LeakyRelu", ChainOp::kLeakyRelu},
                               {"Exp", ChainOp::kExp},
                               {"Log", ChainOp::kLog},
                               {"Sqrt", ChainOp::kSqrt},
                               {"Reciprocal", ChainOp::kReciprocal},
                               {"Erf", ChainOp::kErf},
                               {"Tanh", ChainOp::kTanh},
                               {"Sigmoid", ChainOp::kSigmoid},
                               {"HardSigmoid", ChainOp::kHardSigmoid},
                               {"HardSwish", ChainOp::kHardSwish}};

// Pow by a number that has a function of its own.
std::optional<ChainOp> PowerOf(const ops::NodeView& view) {
  if (view.constant(1) == nullptr || ElementCount(view.dims(1)) != 1) {
    return std::nullopt;
  }
  const auto exponent = ops::ConstantNumber(view, 1, "exponent");
  if (!exponent.ok()) return std::nullopt;
  if (*exponent == 2) return ChainOp::kSquare;
  if (*exponent == 0.5) return ChainOp::kSqrt;
  return std::nullopt;
}

std::optional<ChainLink> ClipOf(const ops::NodeView& view) {
  const auto clip = ops::ReadClip(view);
  if (!clip.ok()) return std::nullopt;
  ChainLink link{.op = ChainOp::kClip};
  link.alpha = static_cast<float>(clip->low);
  link.beta = static_cast<float>(clip->high);
  return link;
}

// A node's function, without its operands; nothing if a chain has it not.
std::optional<ChainLink> LinkOf(const ops::NodeView& view) {
  ChainLink link;
  for (const Function& function : kOfTwo) {
    if (function.op != view.op()) continue;
    if (view.input_count() != 2) return std::nullopt;
    link.op = function.link;
    return link;
  }
  for (const Function& function : kOfOne) {
    if (function.op != view.op()) continue;
    const auto params = ops::ReadUnary(view);
    if (!params.ok()) return std::nullopt;
    link.op = function.link;
    link.alpha = params->alpha;
    link.beta = params->beta;
    return link;
  }
  if (view.op() == "Clip") return ClipOf(view);
  if (view.op() == "Gelu") {
    const auto tanh = ops::ReadGeluTanh(view);
    if (!tanh.ok()) return std::nullopt;
    link.op = *tanh ? ChainOp::kGeluTanh : ChainOp::kGeluErf;
    return link;
  }
  if (view.op() != "Pow") return std::nullopt;
  const std::optional<ChainOp> power = PowerOf(view);
  if (!power.has_value()) return std::nullopt;
  link.op = *power;
  return link;
}

bool HasTwo(const ChainLink& link) { return link.op <= ChainOp::kMin; }

// What one search knows.
class Finder {
 public:
  explicit Finder(const LoweringContext& context)
      : context_(context),
        bound_(context.bound()),
        producers_(graph::Producers(*bound_.graph)),
        consumers_(graph::Consumers(*bound_.graph)),
        given_out_(bound_.graph->values.size()),
        taken_(bound_.graph->nodes.size()) {
    for (const graph::ValueId id : bound_.graph->outputs) {
      given_out_[graph::At(id)] = true;
    }
    for (size_t i = 0; i < bound_.graph->nodes.size(); ++i) {
      links_.push_back(Fits(static_cast<int>(i)));
    }
  }

  std::vector<NodeChain> Find() {
    std::vector<NodeChain> chains;
    for (int i = static_cast<int>(links_.size()) - 1; i >= 0; --i) {
      if (!links_[At(i)].has_value() || taken_[At(i)]) continue;
      const std::vector<int> nodes = Grow(i);
      if (nodes.size() < 2) continue;
      std::optional<NodeChain> chain = Make(nodes);
      if (!chain.has_value()) continue;
      for (const int node : nodes) taken_[At(node)] = true;
      chains.push_back(*std::move(chain));
    }
    std::reverse(chains.begin(), chains.end());
    return chains;
  }

 private:
  static size_t At(int node) { return static_cast<size_t>(node); }
  const graph::Node& NodeAt(int node) const {
    return bound_.graph->nodes[At(node)];
  }

  std::optional<ChainLink> Fits(int i) const {
    if (!bound_.live[At(i)]) return std::nullopt;
    const graph::Node& node = NodeAt(i);
    const ops::NodeView view = ops::ViewOf(bound_, i);
    std::optional<ChainLink> link = LinkOf(view);
    if (!link.has_value() || node.outputs.size() != 1) return std::nullopt;
    const size_t operands = HasTwo(*link) ? 2 : 1;
    for (size_t k = 0; k < operands; ++k) {
      if (!IsSmallFloat(context_.StoredAs(view.dtype(k)))) return std::nullopt;
    }
    if (!IsSmallFloat(context_.TypeOf(node.outputs[0]))) return std::nullopt;
    return link;
  }

  bool ReadWithin(graph::ValueId value, const std::vector<int>& nodes) const {
    return std::ranges::all_of(consumers_[graph::At(value)], [&](int reader) {
      return !bound_.live[At(reader)] || std::ranges::count(nodes, reader) > 0;
    });
  }

  // The node before that makes `value`, if it can be in the chain of `nodes`
  // which ends with `last`; -1 else.
  int Before(graph::ValueId value, const std::vector<int>& nodes,
             int last) const {
    if (value == graph::kNoValue || given_out_[graph::At(value)] ||
        bound_.constants[graph::At(value)] != nullptr) {
      return -1;
    }
    const int producer = producers_[graph::At(value)];
    if (producer < 0 || !links_[At(producer)].has_value() ||
        taken_[At(producer)] || std::ranges::count(nodes, producer) > 0) {
      return -1;
    }
    const bool same =
        context_.DimsOf(value) == context_.DimsOf(NodeAt(last).outputs[0]);
    return same && ReadWithin(value, nodes) ? producer : -1;
  }

  std::vector<int> Grow(int last) const {
    std::vector<int> nodes = {last};
    for (size_t k = 0; k < nodes.size(); ++k) {
      // A value with several readers enters with the last of them: all that
      // have been passed are looked at again.
      for (size_t j = 0; j <= k; ++j) {
        for (const graph::ValueId value : NodeAt(nodes[j]).inputs) {
          const int before = Before(value, nodes, last);
          if (before < 0 || nodes.size() >= kMaxLinks) continue;
          nodes.push_back(before);
          if (Inputs(nodes).size() > kMaxChainInputs) nodes.pop_back();
        }
      }
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  // Whether operand k of the node is a number that is known now.
  bool IsNumber(int node, size_t k) const {
    const graph::ValueId value = NodeAt(node).inputs[k];
    return bound_.constants[graph::At(value)] != nullptr &&
           ElementCount(context_.DimsOf(value)) == 1;
  }

  // What the nodes read from outside, numbers apart, each once.
  std::vector<graph::ValueId> Inputs(const std::vector<int>& nodes) const {
    std::vector<graph::ValueId> inputs;
    for (const int node : nodes) {
      const size_t operands = HasTwo(*links_[At(node)]) ? 2 : 1;
      for (size_t k = 0; k < operands; ++k) {
        const graph::ValueId value = NodeAt(node).inputs[k];
        const int producer = producers_[graph::At(value)];
        const bool inside =
            producer >= 0 && std::ranges::count(nodes, producer) > 0;
        if (inside || IsNumber(node, k) ||
            std::ranges::count(inputs, value) > 0) {
          continue;
        }
        inputs.push_back(value);
      }
    }
    return inputs;
  }

  ChainOperand OperandOf(int node, size_t k, const std::vector<int>& nodes,
                         const std::vector<graph::ValueId>& inputs) const {
    const graph::ValueId value = NodeAt(node).inputs[k];
    if (IsNumber(node, k)) {
      const ops::NodeView view = ops::ViewOf(bound_, node);
      return {.kind = ChainOperand::Kind::kNumber,
              .number = static_cast<float>(
                  ops::ConstantNumber(view, k, "operand").value_or(0))};
    }
    const auto input = std::ranges::find(inputs, value);
    if (input != inputs.end()) {
      return {.kind = ChainOperand::Kind::kInput,
              .index = static_cast<int>(input - inputs.begin())};
    }
    const auto link = std::ranges::find(nodes, producers_[graph::At(value)]);
    return {.kind = ChainOperand::Kind::kLink,
            .index = static_cast<int>(link - nodes.begin())};
  }

  std::optional<NodeChain> Make(const std::vector<int>& nodes) const {
    NodeChain made;
    made.nodes = nodes;
    made.inputs = Inputs(nodes);
    for (const int node : nodes) {
      ChainLink link = *links_[At(node)];
      link.a = OperandOf(node, 0, nodes, made.inputs);
      if (HasTwo(link)) link.b = OperandOf(node, 1, nodes, made.inputs);
      made.chain.links.push_back(link);
    }
    const graph::ValueId output = NodeAt(nodes.back()).outputs[0];
    const Dims& out = context_.DimsOf(output);
    made.chain.output = context_.TypeOf(output);
    std::vector<Dims> strides;
    for (const graph::ValueId id : made.inputs) {
      made.chain.inputs.push_back(context_.TypeOf(id));
      strides.push_back(BroadcastStrides(context_.DimsOf(id), out));
    }
    // Packs that are cut off are not written.
    const int pack = ElementCount(out) % kChainPack == 0 ? kChainPack : 1;
    const auto walk = MakeChainWalk(out, strides, pack);
    if (!walk.ok() || walk->narrow == 0) return std::nullopt;
    made.walk = *walk;
    return made;
  }

  const LoweringContext& context_;
  const ops::BoundGraph& bound_;
  const std::vector<int> producers_;
  const std::vector<std::vector<int>> consumers_;
  std::vector<bool> given_out_;  // by value
  std::vector<bool> taken_;      // by node
  std::vector<std::optional<ChainLink>> links_;
};

}  // namespace

std::vector<NodeChain> FindChains(const LoweringContext& context) {
  return Finder(context).Find();
}

absl::Status LowerChain(LoweringContext& context, const NodeChain& chain) {
  const std::vector<graph::Node>& nodes = context.bound().graph->nodes;
  std::string name = "Chain";
  for (const int node : chain.nodes) {
    absl::StrAppend(&name, name == "Chain" ? ":" : ",",
                    nodes[static_cast<size_t>(node)].op);
  }
  std::vector<plan::BufferId> reads;
  std::vector<Argument> arguments;
  for (const graph::ValueId id : chain.inputs) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId read, context.Read(id));
    reads.push_back(read);
    arguments.emplace_back(Place{read});
  }
  const auto last = static_cast<size_t>(chain.nodes.back());
  const plan::BufferId y = context.Define(nodes[last].outputs[0]);
  arguments.emplace_back(Place{y});
  arguments.emplace_back(ByValue(chain.walk));
  GeneratedModule module = WriteChain(chain.chain, chain.walk);
  KernelLaunch launch =
      FlatLaunch(module.name, chain.walk.count, std::move(arguments));
  context.AddModule(std::move(module));
  context.AddStep(std::move(name), {std::move(launch)}, std::move(reads), {y});
  return absl::OkStatus();
}

}  // namespace reprise::cuda
