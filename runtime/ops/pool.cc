#include "runtime/ops/pool.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferPool(const NodeView& view) {
  const bool is_byte =
      view.dtype(0) == DType::kInt8 || view.dtype(0) == DType::kUint8;
  if (!IsFloat(view.dtype(0)) && !(view.op() == "MaxPool" && is_byte)) {
    return NotRunHere(absl::StrCat("does not take ", DTypeName(view.dtype(0))));
  }
  REPRISE_ASSIGN_OR_RETURN(const PoolGeometry geometry, ReadPool(view));
  REPRISE_RETURN_IF_ERROR(NumElements(geometry.output).status());
  Types types{{view.dtype(0), geometry.output}};
  if (view.op() == "MaxPool") {
    types.push_back({DType::kInt64, geometry.output});
  }
  return types;
}

absl::StatusOr<BatchState> PoolBatch(const BatchView& view) {
  const BatchState& in = view.inputs[0];
  if (in.count()) return MixesRows("uses the number of rows as data");
  if (in.rows() && in.axis > 1) {
    return MixesRows(absl::StrCat("pools over the batch axis (", in.axis, ")"));
  }
  const auto& outputs = view.a.node->outputs;
  if (in.rows() && outputs.size() > 1 && outputs[1] != graph::kNoValue) {
    return MixesRows("indices count over all rows");
  }
  return in;
}

constexpr Op Pool(absl::string_view name, int outputs = 1) {
  return {name, 1, 1, 1, outputs, InferPool, PoolBatch, false};
}

constexpr Op kOps[] = {
    Pool("MaxPool", 2),
    Pool("AveragePool"),
    Pool("GlobalMaxPool"),
    Pool("GlobalAveragePool"),
};

}  // namespace

absl::StatusOr<PoolGeometry> ReadPool(const NodeView& view) {
  const Dims& x = view.dims(0);
  if (x.size() < 3) {
    return BadNode(absl::StrCat("input ", DimsText(x), " has no spatial axis"));
  }
  const std::vector<int64_t> input(x.begin() + 2, x.end());
  PoolGeometry geometry;
  geometry.global =
      view.op() == "GlobalMaxPool" || view.op() == "GlobalAveragePool";
  if (geometry.global) {
    const std::vector<int64_t> ones(input.size(), 1);
    const std::vector<int64_t> zeros(input.size(), 0);
    geometry.window = {input, ones, ones, zeros, zeros, ones};
    for (const int64_t extent : input) {
      if (extent == 0) return BadNode("input has no elements to pool");
    }
  } else {
    const graph::Attributes& attributes = view.attributes();
    REPRISE_ASSIGN_OR_RETURN(std::vector<int64_t> kernel,
                             attributes.Ints("kernel_shape", {}));
    REPRISE_ASSIGN_OR_RETURN(const int64_t ceil_mode,
                             attributes.Int("ceil_mode", 0));
    REPRISE_ASSIGN_OR_RETURN(const int64_t include,
                             attributes.Int("count_include_pad", 0));
    REPRISE_ASSIGN_OR_RETURN(const int64_t order,
                             attributes.Int("storage_order", 0));
    geometry.count_include_pad = include != 0;
    geometry.column_major_indices = order != 0;
    REPRISE_ASSIGN_OR_RETURN(
        geometry.window,
        ReadWindow(view, input, std::move(kernel), ceil_mode != 0));
  }
  geometry.output = {x[0], x[1]};
  geometry.output.insert(geometry.output.end(), geometry.window.out.begin(),
                         geometry.window.out.end());
  return geometry;
}

std::span<const Op> PoolOps() { return kOps; }

}  // namespace reprise::ops
