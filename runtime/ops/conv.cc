#include "runtime/ops/conv.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferConv(const NodeView& view) {
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (!view.Has(i)) continue;
    if (!IsFloat(view.dtype(i)) || view.dtype(i) != view.dtype(0)) {
      return BadNode(absl::StrCat("input ", i, " is ", DTypeName(view.dtype(i)),
                                  "; all must be of one float datatype"));
    }
  }
  REPRISE_ASSIGN_OR_RETURN(ConvGeometry geometry, ReadConv(view));
  REPRISE_RETURN_IF_ERROR(NumElements(geometry.output).status());
  return Types{{view.dtype(0), std::move(geometry.output)}};
}

absl::StatusOr<BatchState> ConvBatch(const BatchView& view) {
  REPRISE_RETURN_IF_ERROR(OnlyInputZeroHasRows(view));
  const BatchState& in = view.inputs[0];
  if (in.rows() && in.axis != 0) {
    return MixesRows(absl::StrCat("the batch is on axis ", in.axis, ", not 0"));
  }
  return in;
}

constexpr Op kOps[] = {
    {"Conv", 1, 2, 3, 1, InferConv, ConvBatch, false},
};

}  // namespace

absl::StatusOr<ConvGeometry> ReadConv(const NodeView& view) {
  const Dims& x = view.dims(0);
  const Dims& w = view.dims(1);
  if (x.size() < 3 || w.size() != x.size()) {
    return BadNode(absl::StrCat("input ", DimsText(x), " and weights ",
                                DimsText(w), " do not fit"));
  }
  ConvGeometry geometry;
  REPRISE_ASSIGN_OR_RETURN(geometry.group, view.attributes().Int("group", 1));
  geometry.in_channels = x[1];
  geometry.out_channels = w[0];
  const int64_t group = geometry.group;
  if (group < 1 || x[1] % group != 0 || w[0] % group != 0 ||
      w[1] != x[1] / group) {
    return BadNode(absl::StrCat("input ", DimsText(x), " and weights ",
                                DimsText(w), " do not fit ", group,
                                group == 1 ? " group" : " groups"));
  }
  std::vector<int64_t> kernel(w.begin() + 2, w.end());
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> declared,
                           view.attributes().Ints("kernel_shape", kernel));
  if (declared != kernel) {
    return BadNode(absl::StrCat("kernel_shape ", DimsText(declared),
                                " is not that of weights ", DimsText(w)));
  }
  REPRISE_ASSIGN_OR_RETURN(
      geometry.window,
      ReadWindow(view, std::vector<int64_t>(x.begin() + 2, x.end()),
                 std::move(kernel), /*ceil_mode=*/false));
  geometry.has_bias = view.Has(2);
  if (geometry.has_bias && view.dims(2) != Dims{w[0]}) {
    return BadNode(
        absl::StrCat("bias ", DimsText(view.dims(2)), " is not [", w[0], "]"));
  }
  geometry.output = {x[0], w[0]};
  geometry.output.insert(geometry.output.end(), geometry.window.out.begin(),
                         geometry.window.out.end());
  return geometry;
}

std::span<const Op> ConvOps() { return kOps; }

}  // namespace reprise::ops
