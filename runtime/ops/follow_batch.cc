#include "runtime/ops/follow_batch.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/batch_rule.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/op_table.h"

namespace reprise::ops {
namespace {

using graph::At;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// Two primes that hardly occur as fixed dims side by side.
constexpr int kRowsA = 2;
constexpr int kRowsB = 3;
constexpr int kUsualRows[] = {1, 4, 8, 16, 32, 64, 128, 256, 4093};

bool SameBytes(const HostTensor& x, const HostTensor& y) {
  return std::equal(x.bytes().begin(), x.bytes().end(), y.bytes().begin(),
                    y.bytes().end());
}

// Two values of the same dims but for `axis`, along which they have `rows_x`
// and `rows_y` rows: all rows of both have the bytes of the first.
bool RowsAreEqual(const HostTensor& x, const HostTensor& y, int64_t axis,
                  int64_t rows_x, int64_t rows_y) {
  if (x.bytes().empty()) return y.bytes().empty();
  size_t outer = 1;
  for (int64_t i = 0; i < axis; ++i) {
    outer *= static_cast<size_t>(x.dims()[static_cast<size_t>(i)]);
  }
  const size_t row = x.bytes().size() / (outer * static_cast<size_t>(rows_x));
  if (y.bytes().size() != row * outer * static_cast<size_t>(rows_y)) {
    return false;
  }
  for (size_t o = 0; o < outer; ++o) {
    const std::byte* first =
        x.bytes().data() + o * row * static_cast<size_t>(rows_x);
    const auto equal = [&](const HostTensor& tensor, int64_t rows) {
      const std::byte* at =
          tensor.bytes().data() + o * row * static_cast<size_t>(rows);
      for (int64_t r = 0; r < rows; ++r, at += row) {
        if (std::memcmp(first, at, row) != 0) return false;
      }
      return true;
    };
    if (!equal(x, rows_x) || !equal(y, rows_y)) return false;
  }
  return true;
}

// One comparison: the graph at kRowsA rows and at `rows_b`.
class Follower {
 public:
  // `known`: the states that another comparison found, or empty.
  Follower(const BoundGraph& a, const BoundGraph& b, int rows_b,
           const std::vector<BatchState>& known)
      : graph_(*a.graph),
        a_(a),
        b_(b),
        rows_b_(rows_b),
        known_(known),
        states_(graph_.values.size()) {}

  absl::Status Run() {
    for (const ValueId id : graph_.inputs) {
      states_[At(id)] = BatchState::Rows(0, 1);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (absl::Status status = Follow(static_cast<int>(i)); !status.ok()) {
        return Annotate(status, graph::NodeText(graph_.nodes[i]));
      }
    }
    for (const ValueId id : graph_.outputs) {
      if (states_[At(id)] == BatchState::Rows(0, 1)) continue;
      return MixesRows(absl::StrCat("output '", graph_.values[At(id)].name,
                                    "' does not carry the batch on axis 0"));
    }
    return absl::OkStatus();
  }

  std::vector<BatchState> TakeStates() { return std::move(states_); }

 private:
  absl::Status Follow(int index) {
    const Node& node = graph_.nodes[static_cast<size_t>(index)];
    bool all_known = true;
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const HostTensor* x = a_.constants[At(id)].get();
      const HostTensor* y = b_.constants[At(id)].get();
      if (x != nullptr && y != nullptr) {
        states_[At(id)] = Compare(*x, *y);
      } else if (x != nullptr && !known_.empty() && known_[At(id)].count()) {
        // Too large here to be known: a count all the same.
        states_[At(id)] = BatchState::Count();
      } else {
        all_known = false;
      }
    }
    if (all_known) return absl::OkStatus();
    const BatchView view = MakeView(index);
    REPRISE_ASSIGN_OR_RETURN(const Op* op,
                             FindOp(node.domain, node.op, node.version));
    REPRISE_ASSIGN_OR_RETURN(const BatchState state, op->batch(view));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      REPRISE_RETURN_IF_ERROR(
          CheckExtents(state, view.out_a[i]->dims, view.out_b[i]->dims));
      states_[At(node.outputs[i])] = state;
    }
    return absl::OkStatus();
  }

  // A value that is known for both numbers of rows.
  BatchState Compare(const HostTensor& x, const HostTensor& y) const {
    if (x.dims() == y.dims()) {
      return SameBytes(x, y) ? BatchState::Fixed() : BatchState::Count();
    }
    if (x.dims().size() != y.dims().size()) return BatchState::Count();
    BatchState state;
    for (size_t i = 0; i < x.dims().size(); ++i) {
      const int64_t extent = x.dims()[i];
      if (extent == y.dims()[i]) continue;
      if (state.rows() || extent % kRowsA != 0 ||
          y.dims()[i] != extent / kRowsA * rows_b_) {
        return BatchState::Count();
      }
      state = BatchState::Rows(static_cast<int64_t>(i), extent / kRowsA);
    }
    return RowsAreEqual(x, y, state.axis, kRowsA, rows_b_)
               ? state
               : BatchState::Count();
  }

  BatchView MakeView(int index) const {
    const Node& node = graph_.nodes[static_cast<size_t>(index)];
    BatchView view;
    view.a = ViewOf(a_, index);
    view.b = ViewOf(b_, index);
    view.rows_a = kRowsA;
    view.rows_b = rows_b_;
    for (const ValueId id : node.inputs) {
      view.inputs.push_back(id == kNoValue ? BatchState::Fixed()
                                           : states_[At(id)]);
    }
    for (const ValueId id : node.outputs) {
      view.out_a.push_back(id == kNoValue ? nullptr : &a_.types[At(id)]);
      view.out_b.push_back(id == kNoValue ? nullptr : &b_.types[At(id)]);
    }
    return view;
  }

  // What the rule says against what the two bindings gave.
  absl::Status CheckExtents(const BatchState& state, const Dims& a,
                            const Dims& b) const {
    bool fits = a.size() == b.size();
    for (size_t i = 0; fits && i < a.size(); ++i) {
      const bool here = state.rows() && static_cast<int64_t>(i) == state.axis;
      fits = here
                 ? a[i] == kRowsA * state.block && b[i] == rows_b_ * state.block
                 : a[i] == b[i];
    }
    if (fits) return absl::OkStatus();
    return MixesRows(absl::StrCat("its output is ", DimsText(a), " for ",
                                  kRowsA, " rows and ", DimsText(b), " for ",
                                  rows_b_));
  }

  const Graph& graph_;
  const BoundGraph& a_;
  const BoundGraph& b_;
  const int rows_b_;
  const std::vector<BatchState>& known_;
  std::vector<BatchState> states_;
};

}  // namespace

absl::Status FollowBatch(const Graph& graph, const Signature& signature,
                         std::span<const int64_t> variant,
                         std::span<const int> rows) {
  if (!signature.batched) {
    return MixesRows("the signature has no batch axis");
  }
  REPRISE_ASSIGN_OR_RETURN(const BoundGraph a,
                           Bind(graph, signature, kRowsA, variant));
  std::vector<BatchState> known;
  const auto compare = [&](int rows_b) -> absl::Status {
    REPRISE_ASSIGN_OR_RETURN(const BoundGraph b,
                             Bind(graph, signature, rows_b, variant));
    Follower follower(a, b, rows_b, known);
    REPRISE_RETURN_IF_ERROR(follower.Run());
    if (known.empty()) known = follower.TakeStates();
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(compare(kRowsB));
  for (const int further : rows) {
    if (further == kRowsA || further == kRowsB) continue;
    REPRISE_RETURN_IF_ERROR(compare(further));
  }
  return absl::OkStatus();
}

absl::Status FollowBatch(const Graph& graph, const Signature& signature,
                         std::span<const int64_t> variant) {
  return FollowBatch(graph, signature, variant, kUsualRows);
}

}  // namespace reprise::ops
