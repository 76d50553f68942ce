// Operators whose values depend on shapes and scalars only.
#include "runtime/ops/generate.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/ops/reshape.h"

namespace reprise::cpu {

absl::StatusOr<Kernel> MakeShape(const KernelRequest& request) {
  const Dims& dims = request.view.dims(0);
  std::vector<int64_t> values(dims.begin(), dims.end());
  if (request.view.op() == "Size") {
    REPRISE_ASSIGN_OR_RETURN(const int64_t n, NumElements(dims));
    values = {n};
  } else {
    REPRISE_ASSIGN_OR_RETURN(const ops::ShapeParams params,
                             ops::ReadShape(request.view));
    values.assign(dims.begin() + params.start, dims.begin() + params.end);
  }
  return Kernel{[values](const KernelArgs& args) {
    std::copy(values.begin(), values.end(), args.out<int64_t>(0));
  }};
}

absl::StatusOr<Kernel> MakeConstantOfShape(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const std::shared_ptr<const HostTensor> fill,
                           ops::ReadFill(request.view));
  REPRISE_ASSIGN_OR_RETURN(const int64_t n,
                           NumElements(request.outputs[0].dims));
  return VisitBytes(request.outputs[0].dtype,
                    [&](auto tag) -> absl::StatusOr<Kernel> {
                      using T = typename decltype(tag)::type;
                      T value{};
                      if (fill != nullptr && fill->elements() == 1)
                        value = fill->values<T>()[0];
                      return Kernel{[value, n](const KernelArgs& args) {
                        std::fill_n(args.out<T>(0), n, value);
                      }};
                    });
}

absl::StatusOr<Kernel> MakeRange(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t n,
                           NumElements(request.outputs[0].dims));
  return VisitNumber(
      request.outputs[0].dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
        using T = typename decltype(tag)::type;
        return Kernel{[n](const KernelArgs& args) {
          using C = ComputeType<T>;
          const C start = static_cast<C>(*args.in<T>(0));
          const C delta = static_cast<C>(*args.in<T>(2));
          T* y = args.out<T>(0);
          for (int64_t i = 0; i < n; ++i) {
            y[i] = static_cast<T>(start + static_cast<C>(i) * delta);
          }
        }};
      });
}

}  // namespace reprise::cpu
