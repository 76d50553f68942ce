#include "tests/conformance/device/op_compare.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/conformance/device/op_values.h"

namespace reprise::conformance {
namespace {

bool Near(double got, double want, const Tolerance& tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <=
         tolerance.absolute + tolerance.relative * std::abs(want);
}

}  // namespace

Tolerance ToleranceOf(DType dtype, absl::string_view precision) {
  if (!IsFloat(dtype)) return {};
  if (dtype == DType::kFp64) return {1e-9, 1e-9};
  if (dtype == DType::kBf16 || precision == "bf16") return {2e-2, 2e-2};
  if (dtype == DType::kFp16 || precision == "fp16") return {2e-3, 2e-3};
  return {2e-3, 2e-4};
}

std::string FirstDifference(const HostTensor& got, const HostTensor& want,
                            const Tolerance& tolerance, int rows) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) {
    return absl::StrCat("got ", DTypeName(got.dtype()), DimsText(got.dims()),
                        ", want ", DTypeName(want.dtype()),
                        DimsText(want.dims()));
  }
  const auto elements = static_cast<size_t>(want.elements());
  const size_t size = ElementSize(want.dtype());
  const size_t row = rows > 0 ? elements / static_cast<size_t>(rows) : 0;
  for (size_t i = 0; i < elements; ++i) {
    if (std::memcmp(got.bytes().data() + i * size,
                    want.bytes().data() + i * size, size) == 0) {
      continue;
    }
    const double g = NumberAt(got, i);
    const double w = NumberAt(want, i);
    if (IsFloat(want.dtype()) && Near(g, w, tolerance)) continue;
    return absl::StrCat(
        row > 0 ? absl::StrCat("row ", i / row, ", ") : std::string(),
        "element ", row > 0 ? i % row : i, ": got ", g, ", want ", w);
  }
  return "";
}

}  // namespace reprise::conformance
