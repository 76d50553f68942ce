#include "runtime/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::StatusOr<Types> InferResize(const NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ResizeParams params, ReadResize(view));
  const DType dtype = view.dtype(0);
  if (dtype == DType::kString ||
      (dtype == DType::kBool && params.mode != ResizeMode::kNearest)) {
    return NotRunHere(absl::StrCat("does not take ", DTypeName(dtype)));
  }
  TensorType out{dtype, {}};
  for (const ResizeAxis& axis : params.axes) out.dims.push_back(axis.out);
  REPRISE_RETURN_IF_ERROR(NumElements(out.dims).status());
  return Types{out};
}

bool Same(double x, double y) { return x >= y && x <= y; }

bool SameAxis(const ResizeAxis& x, const ResizeAxis& y) {
  return x.in == y.in && x.out == y.out && Same(x.scale, y.scale) &&
         Same(x.begin, y.begin) && Same(x.end, y.end);
}

absl::StatusOr<BatchState> ResizeBatch(const BatchView& view) {
  const BatchState& in = view.inputs[0];
  REPRISE_ASSIGN_OR_RETURN(const ResizeParams a, ReadResize(view.a));
  REPRISE_ASSIGN_OR_RETURN(const ResizeParams b, ReadResize(view.b));
  for (size_t i = 0; i < a.axes.size(); ++i) {
    if (in.rows() && static_cast<int64_t>(i) == in.axis) {
      if (a.axes[i].Keeps() && b.axes[i].Keeps()) continue;
      return MixesRows(absl::StrCat("resizes the batch axis (", i, ")"));
    }
    if (!SameAxis(a.axes[i], b.axes[i])) {
      return MixesRows("resizes by the number of rows");
    }
  }
  return KeepRows(view);
}

constexpr Op Row(absl::string_view name, int since, int min_inputs,
                 int max_inputs) {
  return {name, since,       min_inputs,  max_inputs,
          1,    InferResize, ResizeBatch, false};
}

// Opset 11 asks for roi and scales; models leave them out all the same.
constexpr Op kOps[] = {
    Row("Upsample", 7, 1, 1),
    Row("Upsample", 9, 2, 2),
    Row("Resize", 10, 2, 2),
    Row("Resize", 11, 1, 4),
};

// What an attribute's word stands for, and since which opset.
template <typename E>
struct Word {
  absl::string_view word;
  E value;
  int since = 0;
};

template <typename E, size_t N>
absl::StatusOr<E> ReadWord(const NodeView& view, const std::string& attribute,
                           const Word<E> (&words)[N]) {
  REPRISE_ASSIGN_OR_RETURN(
      const std::string given,
      view.attributes().String(attribute, std::string(words[0].word)));
  for (const Word<E>& word : words) {
    if (word.word == given && view.version() >= word.since) return word.value;
  }
  return BadNode(absl::StrCat(attribute, " '", given,
                              "' is not defined in opset ", view.version()));
}

constexpr Word<ResizeMode> kModes[] = {
    {"nearest", ResizeMode::kNearest},
    {"linear", ResizeMode::kLinear},
    {"bilinear", ResizeMode::kLinear},  // early exporters of Upsample
    {"cubic", ResizeMode::kCubic, 11},
};
constexpr Word<ResizeCoordinates> kCoordinates[] = {
    {"half_pixel", ResizeCoordinates::kHalfPixel},
    {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric, 19},
    {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
    {"align_corners", ResizeCoordinates::kAlignCorners},
    {"asymmetric", ResizeCoordinates::kAsymmetric},
    {"tf_half_pixel_for_nn", ResizeCoordinates::kTfHalfPixelForNn},
    {"tf_crop_and_resize", ResizeCoordinates::kTfCropAndResize},
};
constexpr Word<NearestMode> kNearestModes[] = {
    {"round_prefer_floor", NearestMode::kRoundPreferFloor},
    {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
    {"floor", NearestMode::kFloor},
    {"ceil", NearestMode::kCeil},
};

enum class AspectPolicy { kStretch, kNotLarger, kNotSmaller };
constexpr Word<AspectPolicy> kPolicies[] = {
    {"stretch", AspectPolicy::kStretch},
    {"not_larger", AspectPolicy::kNotLarger, 18},
    {"not_smaller", AspectPolicy::kNotSmaller, 18},
};

absl::Status ReadHow(const NodeView& view, ResizeParams& params) {
  const graph::Attributes& attributes = view.attributes();
  REPRISE_ASSIGN_OR_RETURN(params.mode, ReadWord(view, "mode", kModes));
  if (view.version() < 11) {
    params.coordinates = ResizeCoordinates::kAsymmetric;
    params.nearest = NearestMode::kFloor;
    return absl::OkStatus();
  }
  REPRISE_ASSIGN_OR_RETURN(
      params.coordinates,
      ReadWord(view, "coordinate_transformation_mode", kCoordinates));
  REPRISE_ASSIGN_OR_RETURN(params.nearest,
                           ReadWord(view, "nearest_mode", kNearestModes));
  REPRISE_ASSIGN_OR_RETURN(params.cubic_a,
                           attributes.Float("cubic_coeff_a", -0.75F));
  REPRISE_ASSIGN_OR_RETURN(params.extrapolation,
                           attributes.Float("extrapolation_value", 0));
  REPRISE_ASSIGN_OR_RETURN(const int64_t exclude,
                           attributes.Int("exclude_outside", 0));
  params.exclude_outside = exclude != 0;
  if (view.version() >= 18) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t antialias,
                             attributes.Int("antialias", 0));
    params.antialias = antialias != 0;
  }
  return absl::OkStatus();
}

// The axes that roi, scales and sizes speak of, in their order.
absl::StatusOr<std::vector<int64_t>> ReadResizedAxes(const NodeView& view) {
  std::vector<int64_t> axes(view.dims(0).size());
  std::iota(axes.begin(), axes.end(), 0);
  if (view.version() < 18 || !view.attributes().Has("axes")) return axes;
  REPRISE_ASSIGN_OR_RETURN(axes, view.attributes().Ints("axes", {}));
  REPRISE_RETURN_IF_ERROR(NormalizeAxes(axes, view.rank(0)).status());
  for (int64_t& axis : axes) {
    if (axis < 0) axis += view.rank(0);
  }
  return axes;
}

// Whether input `i` is there and has elements.
bool Given(const NodeView& view, size_t i) {
  return view.Has(i) && NumElements(view.dims(i)).value_or(1) != 0;
}

absl::Status CheckCount(const NodeView& view, size_t i, size_t count,
                        absl::string_view what) {
  if (view.dims(i) == Dims{static_cast<int64_t>(count)}) {
    return absl::OkStatus();
  }
  return BadNode(absl::StrCat(what, " ", DimsText(view.dims(i)), " are not ",
                              count, " numbers"));
}

absl::StatusOr<std::vector<double>> ReadScales(const NodeView& view, size_t i,
                                               size_t count) {
  std::vector<double> scales;
  if (view.op() == "Upsample" && view.version() < 9) {
    const graph::AttributeValue* given = view.attributes().Find("scales");
    if (given != nullptr) {
      if (const auto* list = std::get_if<std::vector<float>>(given)) {
        scales.assign(list->begin(), list->end());
      }
    }
    if (scales.size() != count) {
      return BadNode(absl::StrCat("there are ", scales.size(), " scales for ",
                                  count, " axes"));
    }
  } else {
    REPRISE_RETURN_IF_ERROR(CheckCount(view, i, count, "scales"));
    REPRISE_ASSIGN_OR_RETURN(scales, ConstantNumbers(view, i, "scales"));
  }
  for (const double scale : scales) {
    if (!(scale > 0 && std::isfinite(scale))) {
      return BadNode(absl::StrCat("a scale is ", scale));
    }
  }
  return scales;
}

absl::Status Scale(ResizeAxis& axis, double scale) {
  axis.scale = scale;
  const float width = static_cast<float>(axis.in) * static_cast<float>(scale);
  if (!(width < 0x1p62F)) {
    return BadNode(absl::StrCat("a scale of ", scale, " is too large for ",
                                axis.in, " elements"));
  }
  axis.width = static_cast<double>(width);
  axis.out = static_cast<int64_t>(std::floor(width));
  return absl::OkStatus();
}

absl::Status SetSizes(const NodeView& view, const std::vector<int64_t>& axes,
                      ResizeParams& params) {
  REPRISE_RETURN_IF_ERROR(CheckCount(view, 3, axes.size(), "sizes"));
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                           ConstantInts(view, 3, "sizes"));
  REPRISE_ASSIGN_OR_RETURN(
      const AspectPolicy policy,
      ReadWord(view, "keep_aspect_ratio_policy", kPolicies));
  double common = 0;  // the scale of all axes, unless they are stretched
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = params.axes[static_cast<size_t>(axes[i])];
    if (sizes[i] < 0 || (axis.in == 0 && sizes[i] != 0)) {
      return BadNode(absl::StrCat("axis ", axes[i], " of ", axis.in,
                                  " elements cannot become ", sizes[i]));
    }
    axis.out = sizes[i];
    axis.width = static_cast<double>(sizes[i]);
    axis.scale = axis.in == 0 ? 1 : axis.width / static_cast<double>(axis.in);
    const bool smaller = policy == AspectPolicy::kNotLarger
                             ? axis.scale < common
                             : axis.scale > common;
    if (i == 0 || smaller) common = axis.scale;
  }
  if (policy == AspectPolicy::kStretch) return absl::OkStatus();
  for (const int64_t at : axes) {
    ResizeAxis& axis = params.axes[static_cast<size_t>(at)];
    axis.scale = common;
    axis.width = common * static_cast<double>(axis.in);
    if (!(axis.width < 0x1p62)) return BadNode("sizes are too large");
    axis.out = static_cast<int64_t>(std::floor(axis.width + 0.5));
  }
  return absl::OkStatus();
}

absl::Status SetRegion(const NodeView& view, const std::vector<int64_t>& axes,
                       ResizeParams& params) {
  if (params.coordinates != ResizeCoordinates::kTfCropAndResize) {
    return absl::OkStatus();
  }
  if (!Given(view, 1)) {
    return BadNode("tf_crop_and_resize without a roi");
  }
  REPRISE_RETURN_IF_ERROR(CheckCount(view, 1, 2 * axes.size(), "roi"));
  REPRISE_ASSIGN_OR_RETURN(const std::vector<double> roi,
                           ConstantNumbers(view, 1, "roi"));
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = params.axes[static_cast<size_t>(axes[i])];
    axis.begin = roi[i];
    axis.end = roi[i + axes.size()];
    if (!std::isfinite(axis.begin) || !std::isfinite(axis.end)) {
      return BadNode("roi is not finite");
    }
  }
  return absl::OkStatus();
}

absl::Status SetExtents(const NodeView& view, const std::vector<int64_t>& axes,
                        ResizeParams& params) {
  const bool sizes = view.version() >= 11 && Given(view, 3);
  const size_t at = view.version() < 11 ? 1 : 2;
  const bool attribute = view.op() == "Upsample" && view.version() < 9;
  const bool scales = attribute || Given(view, at);
  if (axes.empty() && !sizes && !scales) return absl::OkStatus();
  if (sizes == scales) {
    return BadNode(sizes ? "both scales and sizes are given"
                         : "neither scales nor sizes are given");
  }
  if (sizes) return SetSizes(view, axes, params);
  REPRISE_ASSIGN_OR_RETURN(const std::vector<double> given,
                           ReadScales(view, at, axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    REPRISE_RETURN_IF_ERROR(
        Scale(params.axes[static_cast<size_t>(axes[i])], given[i]));
  }
  return absl::OkStatus();
}

}  // namespace

bool ResizeAxis::Keeps() const {
  return in == out && Same(scale, 1) && Same(begin, 0) && Same(end, 1);
}

absl::StatusOr<ResizeParams> ReadResize(const NodeView& view) {
  ResizeParams params;
  REPRISE_RETURN_IF_ERROR(ReadHow(view, params));
  for (const int64_t extent : view.dims(0)) {
    params.axes.push_back(
        {.in = extent, .out = extent, .width = static_cast<double>(extent)});
  }
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                           ReadResizedAxes(view));
  REPRISE_RETURN_IF_ERROR(SetExtents(view, axes, params));
  REPRISE_RETURN_IF_ERROR(SetRegion(view, axes, params));
  return params;
}

std::span<const Op> ResizeOps() { return kOps; }

}  // namespace reprise::ops
