#include "runtime/ops/norm.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/ops/elementwise.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {
namespace {

using Types = std::vector<TensorType>;

absl::Status CheckFloats(const NodeView& view) {
  for (size_t i = 0; i < view.input_count(); ++i) {
    if (view.Has(i) && !IsFloat(view.dtype(i))) {
      return BadNode(absl::StrCat("input ", i, " is ", DTypeName(view.dtype(i)),
                                  ", not a float"));
    }
  }
  return absl::OkStatus();
}

// All of one datatype: what is read as such.
absl::Status CheckSameDtype(const NodeView& view) {
  for (size_t i = 1; i < view.input_count(); ++i) {
    if (view.Has(i) && view.dtype(i) != view.dtype(0)) {
      return BadNode(absl::StrCat("input ", i, " is ", DTypeName(view.dtype(i)),
                                  " and input 0 is ",
                                  DTypeName(view.dtype(0))));
    }
  }
  return absl::OkStatus();
}

// Inputs from 1 on are [C].
absl::Status CheckPerChannel(const NodeView& view, size_t min_rank) {
  if (view.dims(0).size() < min_rank) {
    return BadNode(
        absl::StrCat("input ", DimsText(view.dims(0)), " has no channel axis"));
  }
  for (size_t i = 1; i < view.input_count(); ++i) {
    if (view.Has(i) && view.dims(i) != Dims{view.dims(0)[1]}) {
      return BadNode(absl::StrCat("input ", i, " ", DimsText(view.dims(i)),
                                  " is not [", view.dims(0)[1], "]"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Types> InferBatchNorm(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckFloats(view));
  REPRISE_RETURN_IF_ERROR(ReadBatchNorm(view).status());
  REPRISE_RETURN_IF_ERROR(CheckPerChannel(view, 2));
  return Types{view.type(0)};
}

absl::StatusOr<Types> InferLrn(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckFloats(view));
  REPRISE_RETURN_IF_ERROR(ReadLrn(view).status());
  if (view.rank(0) < 3) {
    return BadNode(
        absl::StrCat("input ", DimsText(view.dims(0)), " has no spatial axis"));
  }
  return Types{view.type(0)};
}

absl::StatusOr<Types> InferLayerNorm(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckFloats(view));
  REPRISE_RETURN_IF_ERROR(CheckSameDtype(view));
  REPRISE_ASSIGN_OR_RETURN(const LayerNormParams params, ReadLayerNorm(view));
  Dims stats = view.dims(0);
  for (size_t i = static_cast<size_t>(params.axis); i < stats.size(); ++i) {
    stats[i] = 1;
  }
  return Types{view.type(0), {DType::kFp32, stats}, {DType::kFp32, stats}};
}

absl::StatusOr<Types> InferInstanceNorm(const NodeView& view) {
  REPRISE_RETURN_IF_ERROR(CheckFloats(view));
  REPRISE_RETURN_IF_ERROR(CheckSameDtype(view));
  REPRISE_RETURN_IF_ERROR(ReadInstanceNorm(view).status());
  REPRISE_RETURN_IF_ERROR(CheckPerChannel(view, 3));
  return Types{view.type(0)};
}

// The batch may be on any axis of input 0 below `limit`, but not on axis 1 when
// channels are told apart there.
absl::StatusOr<BatchState> PerRow(const BatchView& view, int64_t limit,
                                  bool channels) {
  REPRISE_RETURN_IF_ERROR(OnlyInputZeroHasRows(view));
  const BatchState& in = view.inputs[0];
  if (in.rows() && channels && in.axis == 1) {
    return MixesRows("the batch is on axis 1, where the channels are");
  }
  if (in.rows() && in.axis >= limit) {
    return MixesRows(
        absl::StrCat("normalises over the batch axis (", in.axis, ")"));
  }
  return in;
}

absl::StatusOr<BatchState> ChannelBatch(const BatchView& view) {
  return PerRow(view, view.a.rank(0), true);  // BatchNormalization, LRN
}

absl::StatusOr<BatchState> LayerNormBatch(const BatchView& view) {
  REPRISE_ASSIGN_OR_RETURN(const LayerNormParams params, ReadLayerNorm(view.a));
  return PerRow(view, params.axis, false);
}

absl::StatusOr<BatchState> InstanceNormBatch(const BatchView& view) {
  return PerRow(view, 2, true);
}

constexpr Op kOps[] = {
    {"BatchNormalization", 7, 5, 5, 5, InferBatchNorm, ChannelBatch, false},
    {"LRN", 1, 1, 1, 1, InferLrn, ChannelBatch, false},
    {"LayerNormalization", 17, 2, 3, 3, InferLayerNorm, LayerNormBatch, false},
    {"InstanceNormalization", 6, 3, 3, 1, InferInstanceNorm, InstanceNormBatch,
     false},
};

}  // namespace

absl::StatusOr<BatchNormParams> ReadBatchNorm(const NodeView& view) {
  BatchNormParams params;
  const graph::Attributes& attributes = view.attributes();
  REPRISE_ASSIGN_OR_RETURN(params.epsilon, attributes.Float("epsilon", 1e-5f));
  REPRISE_ASSIGN_OR_RETURN(const int64_t training,
                           attributes.Int("training_mode", 0));
  if (training != 0) return NotRunHere("training_mode is on");
  REPRISE_ASSIGN_OR_RETURN(const int64_t spatial, attributes.Int("spatial", 1));
  if (spatial == 0 && view.version() < 9 && view.rank(0) > 2) {
    return NotRunHere("spatial = 0 is not supported");
  }
  const std::vector<graph::ValueId>& outputs = view.node->outputs;
  for (size_t i = 1; i < outputs.size(); ++i) {
    if (outputs[i] != graph::kNoValue) {
      return NotRunHere(absl::StrCat("output ", i, " is for training only"));
    }
  }
  return params;
}

absl::StatusOr<LrnParams> ReadLrn(const NodeView& view) {
  LrnParams params;
  const graph::Attributes& attributes = view.attributes();
  REPRISE_ASSIGN_OR_RETURN(params.size, attributes.Int("size"));
  REPRISE_ASSIGN_OR_RETURN(params.alpha, attributes.Float("alpha", 1e-4f));
  REPRISE_ASSIGN_OR_RETURN(params.beta, attributes.Float("beta", 0.75f));
  REPRISE_ASSIGN_OR_RETURN(params.bias, attributes.Float("bias", 1));
  if (params.size < 1) return BadNode(absl::StrCat("size is ", params.size));
  return params;
}

absl::StatusOr<LayerNormParams> ReadLayerNorm(const NodeView& view) {
  LayerNormParams params;
  const graph::Attributes& attributes = view.attributes();
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, attributes.Int("axis", -1));
  REPRISE_ASSIGN_OR_RETURN(params.epsilon, attributes.Float("epsilon", 1e-5f));
  REPRISE_ASSIGN_OR_RETURN(const int64_t stash,
                           attributes.Int("stash_type", 1));
  if (stash != 1) {
    return NotRunHere(absl::StrCat("stash_type is ", stash, ", not FLOAT"));
  }
  if (view.rank(0) == 0) return BadNode("input 0 is a scalar");
  REPRISE_ASSIGN_OR_RETURN(params.axis, NormalizeAxis(axis, view.rank(0)));
  const Dims& dims = view.dims(0);
  const Dims inner(dims.begin() + params.axis, dims.end());
  for (int64_t i = 0; i < params.axis; ++i) {
    params.outer *= dims[static_cast<size_t>(i)];
  }
  for (const int64_t extent : inner) params.inner *= extent;
  params.has_bias = view.Has(2);
  for (size_t i = 1; i < view.input_count(); ++i) {
    if (!view.Has(i)) continue;
    const absl::StatusOr<Dims> both = BroadcastDims(inner, view.dims(i));
    if (!both.ok() || *both != inner) {
      return BadNode(absl::StrCat("input ", i, " ", DimsText(view.dims(i)),
                                  " does not broadcast to ", DimsText(inner)));
    }
  }
  return params;
}

absl::StatusOr<InstanceNormParams> ReadInstanceNorm(const NodeView& view) {
  InstanceNormParams params;
  REPRISE_ASSIGN_OR_RETURN(params.epsilon,
                           view.attributes().Float("epsilon", 1e-5f));
  return params;
}

std::span<const Op> NormOps() { return kOps; }

}  // namespace reprise::ops
