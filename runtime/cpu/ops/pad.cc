// Pad: every output element is one of the input's, or the fill.
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/strided.h"
#include "runtime/ops/layout.h"

namespace reprise::cpu {
namespace {

// The input index that output index `at` of an axis shows; -1 for the fill.
int64_t Source(ops::PadMode mode, int64_t at, int64_t begin, int64_t extent) {
  int64_t i = at - begin;
  if (i >= 0 && i < extent) return i;
  switch (mode) {
    case ops::PadMode::kConstant:
      return -1;
    case ops::PadMode::kEdge:
      return std::clamp<int64_t>(i, 0, extent - 1);
    case ops::PadMode::kWrap:
      return (i % extent + extent) % extent;
    case ops::PadMode::kReflect:
      break;
  }
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);
  i = (i % period + period) % period;
  return i < extent ? i : period - i;
}

// For each axis, the offset in the input of each output index; -1 for the fill.
struct Tables {
  Dims out;
  std::vector<std::vector<int64_t>> offsets;
};

Tables MakeTables(const ops::PadParams& params, const Dims& in,
                  const Dims& out) {
  const Dims strides = Strides(in);
  Tables tables{out, {}};
  for (size_t axis = 0; axis < in.size(); ++axis) {
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < out[axis]; ++i) {
      const int64_t source =
          in[axis] == 0 ? -1
                        : Source(params.mode, i, params.begins[axis], in[axis]);
      offsets.push_back(source < 0 ? -1 : source * strides[axis]);
    }
    tables.offsets.push_back(std::move(offsets));
  }
  return tables;
}

// Writes the part of `y` below the axes before `axis`, whose offset in the
// input is `at`, or -1 if they are already in the padding.
template <typename T>
void Fill(const Tables& tables, size_t axis, int64_t at, const T* x, T fill,
          T*& y) {
  const std::vector<int64_t>& offsets = tables.offsets[axis];
  const bool last = axis + 1 == tables.offsets.size();
  for (const int64_t offset : offsets) {
    const int64_t here = at < 0 || offset < 0 ? -1 : at + offset;
    if (last) {
      *y++ = here < 0 ? fill : x[here];
    } else {
      Fill(tables, axis + 1, here, x, fill, y);
    }
  }
}

template <typename T>
Kernel PadKernel(Tables tables, T fill) {
  return {[tables = std::move(tables), fill](const KernelArgs& args) {
    T* y = args.out<T>(0);
    const T* x = args.in<T>(0);
    if (tables.offsets.empty()) {
      *y = *x;
    } else {
      Fill(tables, 0, 0, x, fill, y);
    }
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakePad(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::PadParams params,
                           ops::ReadPad(request.view));
  Tables tables =
      MakeTables(params, request.view.dims(0), request.outputs[0].dims);
  const DType dtype = request.view.dtype(0);
  if (dtype == DType::kBool) {
    return PadKernel<uint8_t>(std::move(tables), params.value != 0 ? 1 : 0);
  }
  return VisitNumber(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    return PadKernel<T>(
        std::move(tables),
        static_cast<T>(static_cast<ComputeType<T>>(params.value)));
  });
}

}  // namespace reprise::cpu
