#include "runtime/ops/follow_batch.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/batch_rule.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/op_table.h"

namespace reprise::ops {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// Two primes that hardly occur as fixed dims side by side, and a number of rows
// that no cut at a fixed position survives.
constexpr int kRowsA = 2;
constexpr int kRowsB = 3;
constexpr int kManyRows = 4093;

size_t At(ValueId id) { return static_cast<size_t>(id); }

bool SameBytes(const HostTensor& x, const HostTensor& y) {
  return std::equal(x.bytes().begin(), x.bytes().end(), y.bytes().begin(),
                    y.bytes().end());
}

// The bytes of each row of `tensor`, `rows` of them along `axis`, are those of
// row 0.
bool RowsAreEqual(const HostTensor& tensor, int64_t axis, int64_t rows) {
  size_t outer = 1;
  for (int64_t i = 0; i < axis; ++i) {
    outer *= static_cast<size_t>(tensor.dims()[static_cast<size_t>(i)]);
  }
  if (tensor.bytes().empty()) return true;
  const size_t row =
      tensor.bytes().size() / (outer * static_cast<size_t>(rows));
  for (size_t o = 0; o < outer; ++o) {
    const std::byte* first =
        tensor.bytes().data() + o * row * static_cast<size_t>(rows);
    for (int64_t r = 1; r < rows; ++r) {
      if (std::memcmp(first, first + static_cast<size_t>(r) * row, row) != 0) {
        return false;
      }
    }
  }
  return true;
}

class Follower {
 public:
  Follower(const BoundGraph& a, const BoundGraph& b)
      : graph_(*a.graph), a_(a), b_(b), states_(graph_.values.size()) {}

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

  // What two small numbers of rows showed holds for many as well.
  absl::Status CheckMany(const BoundGraph& many) const {
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.outputs) {
        if (id == kNoValue || !states_[At(id)].rows()) continue;
        const BatchState& state = states_[At(id)];
        const Dims& dims = many.types[At(id)].dims;
        const size_t axis = static_cast<size_t>(state.axis);
        if (axis < dims.size() && dims[axis] == kManyRows * state.block) {
          continue;
        }
        return Annotate(MixesRows(absl::StrCat("its output is ", DimsText(dims),
                                               " for ", kManyRows, " rows")),
                        graph::NodeText(node));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Follow(int index) {
    const Node& node = graph_.nodes[static_cast<size_t>(index)];
    bool all_known = true;
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const HostTensor* x = a_.constants[At(id)].get();
      const HostTensor* y = b_.constants[At(id)].get();
      if (x == nullptr || y == nullptr) {
        all_known = false;
      } else {
        states_[At(id)] = Compare(*x, *y);
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
  static BatchState Compare(const HostTensor& x, const HostTensor& y) {
    if (x.dims() == y.dims()) {
      return SameBytes(x, y) ? BatchState::Fixed() : BatchState::Count();
    }
    if (x.dims().size() != y.dims().size()) return BatchState::Count();
    BatchState state;
    for (size_t i = 0; i < x.dims().size(); ++i) {
      const int64_t extent = x.dims()[i];
      if (extent == y.dims()[i]) continue;
      if (state.rows() || extent % kRowsA != 0 ||
          y.dims()[i] != extent / kRowsA * kRowsB) {
        return BatchState::Count();
      }
      state = BatchState::Rows(static_cast<int64_t>(i), extent / kRowsA);
    }
    const bool equal = RowsAreEqual(x, state.axis, kRowsA) &&
                       RowsAreEqual(y, state.axis, kRowsB);
    return equal ? state : BatchState::Count();
  }

  BatchView MakeView(int index) const {
    const Node& node = graph_.nodes[static_cast<size_t>(index)];
    BatchView view;
    view.a = ViewOf(a_, index);
    view.b = ViewOf(b_, index);
    view.rows_a = kRowsA;
    view.rows_b = kRowsB;
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
  static absl::Status CheckExtents(const BatchState& state, const Dims& a,
                                   const Dims& b) {
    bool fits = a.size() == b.size();
    for (size_t i = 0; fits && i < a.size(); ++i) {
      const bool here = state.rows() && static_cast<int64_t>(i) == state.axis;
      fits = here ? a[i] == kRowsA * state.block && b[i] == kRowsB * state.block
                  : a[i] == b[i];
    }
    if (fits) return absl::OkStatus();
    return MixesRows(absl::StrCat("its output is ", DimsText(a), " for ",
                                  kRowsA, " rows and ", DimsText(b), " for ",
                                  kRowsB));
  }

  const Graph& graph_;
  const BoundGraph& a_;
  const BoundGraph& b_;
  std::vector<BatchState> states_;
};

}  // namespace

absl::Status FollowBatch(const Graph& graph, const Signature& signature,
                         std::span<const int64_t> variant) {
  if (!signature.batched) {
    return MixesRows("the signature has no batch axis");
  }
  REPRISE_ASSIGN_OR_RETURN(const BoundGraph a,
                           Bind(graph, signature, kRowsA, variant));
  REPRISE_ASSIGN_OR_RETURN(const BoundGraph b,
                           Bind(graph, signature, kRowsB, variant));
  Follower follower(a, b);
  REPRISE_RETURN_IF_ERROR(follower.Run());
  REPRISE_ASSIGN_OR_RETURN(const BoundGraph many,
                           Bind(graph, signature, kManyRows, variant));
  return follower.CheckMany(many);
}

}  // namespace reprise::ops
