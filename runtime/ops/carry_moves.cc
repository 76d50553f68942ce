#include "runtime/ops/carry_moves.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/ops/gather.h"
#include "runtime/ops/layout.h"
#include "runtime/ops/slice.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {
namespace {

// out[o, i...] = in at start + i * step on each axis.
std::vector<size_t> StridedIndex(const Dims& in, const SliceParams& params) {
  const Dims strides = Strides(in);
  std::vector<size_t> index{0};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    std::vector<size_t> next;
    for (const size_t base : index) {
      for (int64_t i = 0; i < params.extents[axis]; ++i) {
        const int64_t at = params.starts[axis] + i * params.steps[axis];
        next.push_back(base + static_cast<size_t>(at * strides[axis]));
      }
    }
    index = std::move(next);
  }
  return index;
}

}  // namespace

absl::StatusOr<Tensors> CarryReshape(const NodeView& view,
                                     const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                           HostTensor::Create(out.dtype, out.dims));
  std::copy(view.constant(0)->bytes().begin(), view.constant(0)->bytes().end(),
            tensor.bytes().begin());
  Tensors tensors;
  tensors.push_back(std::move(tensor));
  return tensors;
}

absl::StatusOr<Tensors> CarryExpand(const NodeView& view,
                                    const TensorType& out) {
  return Move(*view.constant(0), out, BroadcastIndex(view.dims(0), out.dims));
}

absl::StatusOr<Tensors> CarrySlice(const NodeView& view,
                                   const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(const SliceParams params, ReadSlice(view));
  return Move(*view.constant(0), out, StridedIndex(view.dims(0), params));
}

absl::StatusOr<Tensors> CarrySplit(const NodeView& view,
                                   std::span<const TensorType> outputs) {
  REPRISE_ASSIGN_OR_RETURN(const SplitParams split, ReadSplit(view));
  const Dims& dims = view.dims(0);
  SliceParams part{std::vector<int64_t>(dims.size(), 0),
                   std::vector<int64_t>(dims.size(), 1),
                   std::vector<int64_t>(dims.begin(), dims.end())};
  const size_t axis = static_cast<size_t>(split.axis);
  Tensors tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    part.extents[axis] = split.sizes[i];
    REPRISE_ASSIGN_OR_RETURN(Tensors one, Move(*view.constant(0), outputs[i],
                                               StridedIndex(dims, part)));
    tensors.push_back(std::move(one[0]));
    part.starts[axis] += split.sizes[i];
  }
  return tensors;
}

absl::StatusOr<Tensors> CarryTranspose(const NodeView& view,
                                       const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> perm,
                           ReadTransposePerm(view));
  const Dims strides = Strides(view.dims(0));
  std::vector<size_t> index{0};
  for (size_t axis = 0; axis < perm.size(); ++axis) {
    std::vector<size_t> next;
    for (const size_t base : index) {
      for (int64_t i = 0; i < out.dims[axis]; ++i) {
        next.push_back(
            base +
            static_cast<size_t>(i * strides[static_cast<size_t>(perm[axis])]));
      }
    }
    index = std::move(next);
  }
  return Move(*view.constant(0), out, index);
}

absl::StatusOr<Tensors> CarryConcat(const NodeView& view,
                                    const TensorType& type) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadConcatAxis(view));
  REPRISE_ASSIGN_OR_RETURN(HostTensor out,
                           HostTensor::Create(type.dtype, type.dims));
  int64_t outer = 1;
  for (int64_t i = 0; i < axis; ++i) outer *= type.dims[static_cast<size_t>(i)];
  std::byte* target = out.bytes().data();
  for (int64_t row = 0; row < outer; ++row) {
    for (size_t i = 0; i < view.input_count(); ++i) {
      const std::span<const std::byte> in = view.constant(i)->bytes();
      const size_t part = in.size() / static_cast<size_t>(outer);
      std::copy_n(in.begin() + row * static_cast<int64_t>(part), part, target);
      target += part;
    }
  }
  Tensors tensors;
  tensors.push_back(std::move(out));
  return tensors;
}

absl::StatusOr<Tensors> CarryGather(const NodeView& view,
                                    const TensorType& out) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis, ReadGatherAxis(view));
  const Dims& dims = view.dims(0);
  const int64_t extent = dims[static_cast<size_t>(axis)];
  int64_t outer = 1;
  int64_t inner = 1;
  for (int64_t i = 0; i < view.rank(0); ++i) {
    if (i < axis) outer *= dims[static_cast<size_t>(i)];
    if (i > axis) inner *= dims[static_cast<size_t>(i)];
  }
  const Numbers indices = Load(*view.constant(1));
  std::vector<size_t> index;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t at : indices.ints) {
      if (at < 0) at += extent;
      if (at < 0 || at >= extent) {
        return BadNode("an index is out of range");
      }
      for (int64_t i = 0; i < inner; ++i) {
        index.push_back(static_cast<size_t>((o * extent + at) * inner + i));
      }
    }
  }
  return Move(*view.constant(0), out, index);
}

}  // namespace reprise::ops
