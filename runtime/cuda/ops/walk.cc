#include "runtime/cuda/ops/walk.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/ops/node_view.h"

namespace reprise::cuda {
namespace {

struct Axis {
  int64_t dim = 1;
  Dims strides;  // of each operand
};

std::vector<Axis> MergedAxes(std::span<const int64_t> dims,
                             std::span<const Dims> strides) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    Axis axis{dims[i], {}};
    for (const Dims& operand : strides) axis.strides.push_back(operand[i]);
    bool merge = !axes.empty();
    for (size_t k = 0; merge && k < strides.size(); ++k) {
      merge = axes.back().strides[k] == axis.strides[k] * axis.dim;
    }
    if (merge) axis.dim *= axes.back().dim;
    if (merge) {
      axes.back() = std::move(axis);
    } else {
      axes.push_back(std::move(axis));
    }
  }
  if (axes.empty()) axes.push_back({1, Dims(strides.size(), 0)});
  return axes;
}

// Whether steps can be packs: see MakeWalk. A single axis may end in a pack
// that is cut off.
bool CanPack(const std::vector<Axis>& axes, int pack) {
  const Axis& inner = axes.back();
  if (axes.size() > 1 && inner.dim % pack != 0) return false;
  for (size_t k = 0; k < inner.strides.size(); ++k) {
    if (inner.strides[k] != 0 && inner.strides[k] != 1) return false;
    if (inner.strides[k] == 0) continue;
    for (size_t i = 0; i + 1 < axes.size(); ++i) {
      if (axes[i].strides[k] % pack != 0) return false;
    }
  }
  return true;
}

bool IsNarrow(const std::vector<Axis>& axes, int64_t count) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (count > kMost) return false;
  for (size_t k = 0; k < axes.back().strides.size(); ++k) {
    int64_t last = 0;
    for (const Axis& axis : axes) {
      if (axis.dim == 0) continue;
      if (axis.strides[k] < 0) return false;
      if (axis.strides[k] > kMost) return false;
      last += (axis.dim - 1) * axis.strides[k];
      if (last > kMost) return false;
    }
  }
  return true;
}

template <typename Walk>
absl::StatusOr<Walk> Make(std::span<const int64_t> dims,
                          std::span<const Dims> strides, int pack) {
  const std::vector<Axis> axes = MergedAxes(dims, strides);
  if (axes.size() > kernels::kMaxWalkAxes) {
    return ops::NotRunHere(
        absl::StrCat("a walk over ", axes.size(), " axes that do not merge"));
  }
  if (strides.size() > Walk::kMaxOperands) {
    return ops::NotRunHere(
        absl::StrCat("a walk by ", strides.size(), " operands"));
  }
  Walk walk;
  walk.elements = ElementCount(dims);
  walk.axes = static_cast<int32_t>(axes.size());
  walk.pack = pack > 1 && CanPack(axes, pack) ? pack : 1;
  walk.narrow = IsNarrow(axes, walk.elements) ? 1 : 0;
  walk.count = CeilDiv(walk.elements, walk.pack);
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool inner = i + 1 == axes.size();
    walk.dims[i] = inner ? CeilDiv(axes[i].dim, walk.pack) : axes[i].dim;
    for (size_t k = 0; k < strides.size(); ++k) {
      const int64_t stride = axes[i].strides[k];
      walk.strides[k][i] = inner ? stride * walk.pack : stride;
      if (inner) walk.step[k] = static_cast<int32_t>(stride != 0 ? 1 : 0);
    }
  }
  return walk;
}

}  // namespace

Dims BroadcastStrides(std::span<const int64_t> dims,
                      std::span<const int64_t> out) {
  Dims strides(out.size(), 0);
  const size_t lead = out.size() - dims.size();
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[lead + i] = dims[i] == 1 ? 0 : stride;
    stride *= dims[i];
  }
  return strides;
}

absl::StatusOr<kernels::Walk> MakeWalk(std::span<const int64_t> dims,
                                       std::span<const Dims> strides,
                                       int pack) {
  return Make<kernels::Walk>(dims, strides, pack);
}

absl::StatusOr<kernels::ChainWalk> MakeChainWalk(std::span<const int64_t> dims,
                                                 std::span<const Dims> strides,
                                                 int pack) {
  return Make<kernels::ChainWalk>(dims, strides, pack);
}

}  // namespace reprise::cuda
