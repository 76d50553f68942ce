#include "runtime/ops/generate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferConstantOfShape(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                           ConstantInts(view, 0, "shape"));
  REPRISE_RETURN_IF_ERROR(NumElements(shape).status());
  REPRISE_ASSIGN_OR_RETURN(const std::shared_ptr<const HostTensor> fill,
                           ReadFill(view));
  return Types{{fill->dtype(), Dims(shape.begin(), shape.end())}};
}

absl::StatusOr<Types> InferRange(const NodeView& view) {
  if (view.dtype(0) != view.dtype(1) || view.dtype(0) != view.dtype(2)) {
    return BadNode("start, limit and delta differ in datatype");
  }
  REPRISE_ASSIGN_OR_RETURN(const double start,
                           ConstantNumber(view, 0, "start"));
  REPRISE_ASSIGN_OR_RETURN(const double limit,
                           ConstantNumber(view, 1, "limit"));
  REPRISE_ASSIGN_OR_RETURN(const double delta,
                           ConstantNumber(view, 2, "delta"));
  const double count = std::ceil((limit - start) / delta);
  if (delta == 0 || !(count < 9e15)) {
    return BadNode(absl::StrCat("a range from ", start, " to ", limit, " by ",
                                delta, " has no end"));
  }
  return Types{
      {view.dtype(0), Dims{static_cast<int64_t>(std::max(0.0, count))}}};
}

// Made from shapes alone: the same for every row.
absl::StatusOr<BatchState> FillBatch(const BatchView& view) {
  return RowsByExtent(view);
}

absl::StatusOr<BatchState> RangeBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const BatchState out, RowsByExtent(view));
  if (out.rows()) return MixesRows("counts the rows");
  for (const BatchState& in : view.inputs) {
    if (in.count()) return MixesRows("uses the number of rows as data");
  }
  return out;
}

constexpr Op kOps[] = {
    {"ConstantOfShape", 9, 1, 1, 1, InferConstantOfShape, FillBatch, false},
    {"Range", 11, 3, 3, 1, InferRange, RangeBatch, false},
};

}  // namespace

absl::StatusOr<std::shared_ptr<const HostTensor>> ReadFill(
    const NodeView& view) {
  const graph::AttributeValue* value = view.attributes().Find("value");
  if (value == nullptr) {
    REPRISE_ASSIGN_OR_RETURN(HostTensor zero,
                             HostTensor::Create(DType::kFp32, {1}));
    return std::make_shared<const HostTensor>(std::move(zero));
  }
  const auto* tensor = std::get_if<std::shared_ptr<const HostTensor>>(value);
  if (tensor == nullptr || *tensor == nullptr || (*tensor)->elements() != 1) {
    return BadNode("attribute 'value' is not a tensor of one element");
  }
  return *tensor;
}

std::span<const Op> GenerateOps() { return kOps; }

}  // namespace reprise::ops
