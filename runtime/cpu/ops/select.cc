// Where and Cast.
#include <cstdint>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/convert.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/rows.h"

namespace reprise::cpu {
namespace {

// Elements of T are only dtype.
template <typename T>
void WhereRow(const Row& row) {
  const auto* condition = row.input<uint8_t>(0);
  const T* yes = row.input<T>(1);
  const T* no = row.input<T>(2);
  T* y = row.output<T>();
  for (int64_t i = 0; i < row.n; ++i) {
    y[i] = condition[i * row.step[0]] != 0 ? yes[i * row.step[1]]
                                           : no[i * row.step[2]];
  }
}

absl::Status CheckNumber(DType dtype) {
  if (dtype != DType::kString) return absl::OkStatus();
  return ops::NotRunHere("not run for BYTES");
}

}  // namespace

absl::StatusOr<Kernel> MakeCast(const KernelRequest& request) {
  const DType from = request.view.dtype(0);
  const DType to = request.outputs[0].dtype;
  REPRISE_RETURN_IF_ERROR(CheckNumber(from));
  REPRISE_RETURN_IF_ERROR(CheckNumber(to));
  REPRISE_ASSIGN_OR_RETURN(const int64_t n, NumElements(request.view.dims(0)));
  return Kernel{[converter = Converter(from, to), n](const KernelArgs& args) {
    converter.Gather(args.inputs[0], 1, args.outputs[0], n);
  }};
}

absl::StatusOr<Kernel> MakeWhere(const KernelRequest& request) {
  const DType dtype = request.outputs[0].dtype;
  REPRISE_RETURN_IF_ERROR(CheckNumber(dtype));
  const RowOperand inputs[] = {
      {DType::kBool, DType::kBool, request.view.dims(0)},
      {dtype, dtype, request.view.dims(1)},
      {dtype, dtype, request.view.dims(2)}};
  const RowOperand output{dtype, dtype, request.outputs[0].dims};
  REPRISE_ASSIGN_OR_RETURN(
      const RowFn fn, VisitBytes(dtype, [](auto tag) -> absl::StatusOr<RowFn> {
        return RowFn{WhereRow<typename decltype(tag)::type>};
      }));
  return RowKernel(output, inputs, fn);
}

}  // namespace reprise::cpu
