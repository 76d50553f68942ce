#include "runtime/ops/node_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/float16.h"

namespace reprise::ops {
namespace {

// The elements as doubles where T converts to one.
template <typename T>
std::vector<double> ElementsOf(const HostTensor& tensor) {
  std::vector<double> out;
  for (const T value : tensor.values<T>()) {
    out.push_back(static_cast<double>(value));
  }
  return out;
}

}  // namespace

NodeView ViewOf(const BoundGraph& bound, int node) {
  NodeView view;
  view.node = &bound.graph->nodes[static_cast<size_t>(node)];
  for (const graph::ValueId id : view.node->inputs) {
    if (id == graph::kNoValue) {
      view.types.push_back(nullptr);
      view.constants.push_back(nullptr);
      continue;
    }
    const size_t i = static_cast<size_t>(id);
    view.types.push_back(&bound.types[i]);
    view.constants.push_back(bound.constants[i].get());
  }
  return view;
}

absl::Status BadNode(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

absl::Status NotRunHere(absl::string_view what) {
  return absl::UnimplementedError(what);
}

absl::StatusOr<int64_t> NormalizeAxis(int64_t axis, int64_t rank) {
  const int64_t bound = std::max<int64_t>(rank, 1);
  if (axis < -bound || axis >= bound) {
    return BadNode(
        absl::StrCat("axis ", axis, " is out of range for rank ", rank));
  }
  return axis < 0 ? axis + bound : axis;
}

absl::StatusOr<std::vector<int64_t>> NormalizeAxes(
    const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> out;
  for (const int64_t axis : axes) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t normal, NormalizeAxis(axis, rank));
    out.push_back(normal);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) {
    return BadNode(absl::StrCat("axes ", DimsText(axes), " repeat an axis"));
  }
  return out;
}

absl::StatusOr<std::vector<int64_t>> ConstantInts(const NodeView& view,
                                                  size_t i,
                                                  absl::string_view what) {
  if (!view.Has(i))
    return BadNode(absl::StrCat("input '", what, "' is missing"));
  const HostTensor* tensor = view.constant(i);
  if (tensor == nullptr) {
    return NotRunHere(absl::StrCat(
        "input '", what,
        "' depends on the data: shapes must be known before the graph runs"));
  }
  if (tensor->dims().size() > 1) {
    return BadNode(absl::StrCat("input '", what, "' has rank ",
                                tensor->dims().size(), ", not 1"));
  }
  std::vector<int64_t> out;
  if (tensor->dtype() == DType::kInt64) {
    const auto values = tensor->values<int64_t>();
    out.assign(values.begin(), values.end());
  } else if (tensor->dtype() == DType::kInt32) {
    const auto values = tensor->values<int32_t>();
    out.assign(values.begin(), values.end());
  } else {
    return BadNode(absl::StrCat("input '", what, "' is ",
                                DTypeName(tensor->dtype()),
                                ", not INT64 or INT32"));
  }
  return out;
}

absl::StatusOr<std::vector<double>> ConstantNumbers(const NodeView& view,
                                                    size_t i,
                                                    absl::string_view what) {
  if (!view.Has(i))
    return BadNode(absl::StrCat("input '", what, "' is missing"));
  const HostTensor* tensor = view.constant(i);
  if (tensor == nullptr) {
    return NotRunHere(absl::StrCat("input '", what,
                                   "' depends on the data: it must be known "
                                   "before the graph runs"));
  }
  switch (tensor->dtype()) {
    case DType::kFp32:
      return ElementsOf<float>(*tensor);
    case DType::kFp64:
      return ElementsOf<double>(*tensor);
    case DType::kInt64:
      return ElementsOf<int64_t>(*tensor);
    case DType::kInt32:
      return ElementsOf<int32_t>(*tensor);
    case DType::kInt16:
      return ElementsOf<int16_t>(*tensor);
    case DType::kInt8:
      return ElementsOf<int8_t>(*tensor);
    case DType::kUint64:
      return ElementsOf<uint64_t>(*tensor);
    case DType::kUint32:
      return ElementsOf<uint32_t>(*tensor);
    case DType::kUint16:
      return ElementsOf<uint16_t>(*tensor);
    case DType::kUint8:
    case DType::kBool:
      return ElementsOf<uint8_t>(*tensor);
    case DType::kFp16:
      return ElementsOf<Half>(*tensor);
    case DType::kBf16:
      return ElementsOf<BFloat16>(*tensor);
    case DType::kString:
      break;
  }
  return BadNode(absl::StrCat("input '", what, "' is not a number"));
}

absl::StatusOr<double> ConstantNumber(const NodeView& view, size_t i,
                                      absl::string_view what) {
  const HostTensor* tensor = view.constant(i);
  if (tensor != nullptr && tensor->elements() != 1) {
    return BadNode(absl::StrCat("input '", what, "' has ", tensor->elements(),
                                " elements, not 1"));
  }
  REPRISE_ASSIGN_OR_RETURN(const std::vector<double> values,
                           ConstantNumbers(view, i, what));
  return values[0];
}

}  // namespace reprise::ops
