#include "runtime/ops/op_table.h"

#include <algorithm>
#include <map>
#include <span>

#include "absl/strings/str_cat.h"
#include "runtime/ops/conv.h"
#include "runtime/ops/elementwise.h"
#include "runtime/ops/gather.h"
#include "runtime/ops/generate.h"
#include "runtime/ops/layout.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/pool.h"
#include "runtime/ops/reduce.h"
#include "runtime/ops/reshape.h"
#include "runtime/ops/resize.h"
#include "runtime/ops/scatter.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/topk.h"

namespace reprise::ops {
namespace {

using Rows = std::map<absl::string_view, std::vector<const Op*>>;

Rows MakeRows() {
  Rows rows;
  for (const std::span<const Op> family :
       {ElementwiseOps(), ReshapeOps(), LayoutOps(), SliceOps(), GatherOps(),
        ScatterOps(), GenerateOps(), ResizeOps(), MatMulOps(), ConvOps(),
        PoolOps(), SoftmaxOps(), ReduceOps(), TopKOps(), NormOps()}) {
    for (const Op& op : family) rows[op.name].push_back(&op);
  }
  for (auto& [name, versions] : rows) {
    std::sort(versions.begin(), versions.end(),
              [](const Op* x, const Op* y) { return x->since < y->since; });
  }
  return rows;
}

const Rows& Table() {
  static const Rows& rows = *new Rows(MakeRows());
  return rows;
}

}  // namespace

absl::StatusOr<const Op*> FindOp(absl::string_view domain,
                                 absl::string_view name, int version) {
  const auto it = Table().find(name);
  if (!domain.empty() || it == Table().end()) {
    return NotRunHere(absl::StrCat("unsupported operator ",
                                   domain.empty() ? "ai.onnx" : domain,
                                   "::", name));
  }
  const Op* found = nullptr;
  for (const Op* op : it->second) {
    if (op->since <= version) found = op;
  }
  if (found == nullptr) {
    return NotRunHere(
        absl::StrCat("operator ", name, " does not exist in opset ", version,
                     ", only from ", it->second.front()->since, " on"));
  }
  return found;
}

std::vector<absl::string_view> OpNames() {
  std::vector<absl::string_view> names;
  for (const auto& [name, versions] : Table()) names.push_back(name);
  return names;
}

}  // namespace reprise::ops
