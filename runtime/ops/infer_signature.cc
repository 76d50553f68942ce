#include "runtime/ops/infer_signature.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/follow_batch.h"

namespace reprise::ops {
namespace {

using graph::Graph;
using graph::Value;
using graph::ValueId;

constexpr int kTrialRows = 2;

class Inference {
 public:
  Inference(const Graph& graph, const SignatureOptions& options)
      : graph_(graph), options_(options) {}

  absl::StatusOr<InferredSignature> Run() {
    for (const ValueId id : graph_.inputs) {
      const Value& value = graph_.values[static_cast<size_t>(id)];
      if (value.has_shape) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("input '", value.name, "' has no declared dims"));
    }
    InferredSignature out;
    if (options_.allow_batch) {
      absl::Status status = BatchAxisIsFree();
      if (status.ok()) status = Try(/*batched=*/true);
      if (status.ok()) {
        out.signature = std::move(signature_);
        return out;
      }
      out.not_batched = std::string(status.message());
    }
    REPRISE_RETURN_IF_ERROR(Try(/*batched=*/false));
    out.signature = std::move(signature_);
    return out;
  }

 private:
  // The extent of a dim if it is fixed by model or configuration.
  std::optional<int64_t> Fixed(const Value& value, size_t axis) const {
    if (value.dims[axis] != kFreeDim) return value.dims[axis];
    const auto it = options_.fixed_dims.find(SymbolOf(value, axis));
    if (it == options_.fixed_dims.end()) return std::nullopt;
    return it->second;
  }

  absl::Status BatchAxisIsFree() const {
    if (graph_.inputs.empty()) {
      return absl::FailedPreconditionError("the model has no inputs");
    }
    std::vector<std::string> batch_symbols;
    for (const ValueId id : graph_.inputs) {
      const Value& value = graph_.values[static_cast<size_t>(id)];
      if (value.dims.empty() || Fixed(value, 0).has_value()) {
        return absl::FailedPreconditionError(absl::StrCat(
            "axis 0 of input '", value.name, "' is ",
            value.dims.empty() ? "missing"
                               : absl::StrCat("fixed at ", *Fixed(value, 0))));
      }
      batch_symbols.push_back(SymbolOf(value, 0));
    }
    for (const ValueId id : graph_.inputs) {
      const Value& value = graph_.values[static_cast<size_t>(id)];
      for (size_t axis = 1; axis < value.dims.size(); ++axis) {
        if (Fixed(value, axis).has_value()) continue;
        const std::string symbol = SymbolOf(value, axis);
        if (std::find(batch_symbols.begin(), batch_symbols.end(), symbol) ==
            batch_symbols.end()) {
          continue;
        }
        return absl::FailedPreconditionError(
            absl::StrCat("'", symbol, "' names axis 0 and axis ", axis,
                         " of input '", value.name, "'"));
      }
    }
    return absl::OkStatus();
  }

  void MakeInputs(bool batched) {
    signature_ = Signature{};
    signature_.batched = batched;
    for (const ValueId id : graph_.inputs) {
      const Value& value = graph_.values[static_cast<size_t>(id)];
      TensorSpec spec;
      spec.name = value.name;
      spec.dtype = value.dtype;
      for (size_t axis = batched ? 1 : 0; axis < value.dims.size(); ++axis) {
        const std::optional<int64_t> fixed = Fixed(value, axis);
        spec.dims.push_back(fixed.value_or(kFreeDim));
        spec.symbols.push_back(fixed.has_value() ? "" : SymbolOf(value, axis));
        std::vector<std::string>& free = signature_.free_symbols;
        if (!fixed.has_value() &&
            std::find(free.begin(), free.end(), spec.symbols.back()) ==
                free.end()) {
          free.push_back(spec.symbols.back());
        }
      }
      signature_.inputs.push_back(std::move(spec));
    }
  }

  absl::Status Try(bool batched) {
    MakeInputs(batched);
    REPRISE_RETURN_IF_ERROR(FindTrial());
    if (batched) {
      REPRISE_RETURN_IF_ERROR(FollowBatch(graph_, signature_, trial_));
    }
    return MakeOutputs();
  }

  // Extents at which the graph binds. Models want all sorts of them: multiples
  // of 32, square pictures, a window of sound, a short text.
  absl::Status FindTrial() {
    const size_t count = signature_.free_symbols.size();
    absl::Status first;
    for (const bool distinct : {true, false}) {
      for (const int64_t base :
           {64, 32, 224, 16, 8, 4, 3, 2, 1, 256, 512, 1024, 4096, 16384}) {
        trial_.clear();
        for (size_t i = 0; i < count; ++i) {
          trial_.push_back(distinct ? base * (static_cast<int64_t>(i) + 1)
                                    : base);
        }
        absl::Status status =
            Bind(graph_, signature_, kTrialRows, trial_).status();
        if (status.ok()) return status;
        if (first.ok()) first = status;
        // No extents help against a missing operator.
        if (count == 0 || absl::IsUnimplemented(status)) return status;
      }
    }
    return Annotate(first,
                    "the model fits none of the extents tried for its "
                    "free dims; the first gave");
  }

  // What is known of one axis of an output after all trials.
  struct Axis {
    bool free = false;
    std::string symbol;  // the input symbol that it followed, if just one
    bool single = true;
  };

  absl::Status MakeOutputs() {
    REPRISE_ASSIGN_OR_RETURN(const BoundGraph base,
                             Bind(graph_, signature_, kTrialRows, trial_));
    std::vector<std::vector<Axis>> axes;
    for (const ValueId id : graph_.outputs) {
      axes.emplace_back(base.types[static_cast<size_t>(id)].dims.size());
    }
    for (size_t s = 0; s < trial_.size(); ++s) {
      std::vector<int64_t> other = trial_;
      other[s] *= 2;
      absl::StatusOr<BoundGraph> bound =
          Bind(graph_, signature_, kTrialRows, other);
      if (bound.ok()) {
        Compare(base, *bound, s, axes);
      } else {
        TrustDeclared(axes);
      }
    }
    for (size_t k = 0; k < graph_.outputs.size(); ++k) {
      AddOutput(base, graph_.outputs[k], axes[k]);
    }
    return absl::OkStatus();
  }

  void Compare(const BoundGraph& base, const BoundGraph& other, size_t symbol,
               std::vector<std::vector<Axis>>& axes) const {
    for (size_t k = 0; k < graph_.outputs.size(); ++k) {
      const size_t id = static_cast<size_t>(graph_.outputs[k]);
      const Dims& x = base.types[id].dims;
      const Dims& y = other.types[id].dims;
      for (size_t i = 0; i < x.size(); ++i) {
        if (i < y.size() && x[i] == y[i]) continue;
        Axis& axis = axes[k][i];
        const bool equals = i < y.size() && x[i] == trial_[symbol] &&
                            y[i] == 2 * trial_[symbol];
        axis.single = axis.single && !axis.free && equals;
        axis.free = true;
        axis.symbol = signature_.free_symbols[symbol];
      }
    }
  }

  // The graph does not bind with one dim doubled (dims that depend on each
  // other): what the model does not declare as fixed may vary.
  void TrustDeclared(std::vector<std::vector<Axis>>& axes) const {
    for (size_t k = 0; k < graph_.outputs.size(); ++k) {
      const Value& value =
          graph_.values[static_cast<size_t>(graph_.outputs[k])];
      const size_t front = signature_.batched ? 1 : 0;
      for (size_t i = front; i < axes[k].size(); ++i) {
        if (value.has_shape && value.dims[i] != kFreeDim) continue;
        axes[k][i].free = true;
        axes[k][i].single = false;
      }
    }
  }

  void AddOutput(const BoundGraph& base, ValueId id,
                 const std::vector<Axis>& axes) {
    const Value& value = graph_.values[static_cast<size_t>(id)];
    const TensorType& type = base.types[static_cast<size_t>(id)];
    TensorSpec spec;
    spec.name = value.name;
    spec.dtype = type.dtype;
    for (size_t i = signature_.batched ? 1 : 0; i < axes.size(); ++i) {
      const Axis& axis = axes[i];
      spec.dims.push_back(axis.free ? kFreeDim : type.dims[i]);
      spec.symbols.push_back(!axis.free ? ""
                             : axis.single
                                 ? axis.symbol
                                 : absl::StrCat(value.name, "[", i, "]"));
    }
    signature_.outputs.push_back(std::move(spec));
  }

  const Graph& graph_;
  const SignatureOptions& options_;
  Signature signature_;
  std::vector<int64_t> trial_;
};

}  // namespace

absl::StatusOr<InferredSignature> InferSignature(
    const Graph& graph, const SignatureOptions& options) {
  return Inference(graph, options).Run();
}

}  // namespace reprise::ops
