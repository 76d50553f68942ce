#include "runtime/cpu/work.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/pool.h"
#include "runtime/tensor/shape.h"

namespace reprise::cpu {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t Product(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product = MultiplyWork(product, dim);
  return product;
}

// Taps that lie in the padding are passed over.
int64_t TapsOnInput(const ops::PoolGeometry& geometry, const Dims& x) {
  int64_t taps = 1;
  for (size_t i = 0; i < geometry.window.kernel.size(); ++i) {
    taps = MultiplyWork(taps, std::min(geometry.window.kernel[i], x[i + 2]));
  }
  return taps;
}

// Multiplications or comparisons behind one element of the output.
int64_t WorkPerElement(const ops::NodeView& view) {
  const absl::string_view op = view.op();
  if (op == "Conv") {
    const Dims& w = view.dims(1);
    return w.empty() || w[0] == 0 ? 1 : Product(w) / w[0];
  }
  if (op == "MatMul") {
    const auto params = ops::ReadMatMul(view);
    return params.ok() ? params->k : 1;
  }
  if (op == "Gemm") {
    const auto params = ops::ReadGemm(view);
    return params.ok() ? params->k : 1;
  }
  if (op == "MaxPool" || op == "AveragePool" || op == "GlobalMaxPool" ||
      op == "GlobalAveragePool") {
    const auto geometry = ops::ReadPool(view);
    return geometry.ok() ? TapsOnInput(*geometry, view.dims(0)) : 1;
  }
  if (op == "LRN") {
    const auto params = ops::ReadLrn(view);
    const Dims& x = view.dims(0);
    return params.ok() && x.size() > 1 ? std::min(params->size, x[1]) : 1;
  }
  return 1;
}

}  // namespace

int64_t AddWork(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

int64_t MultiplyWork(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

int64_t NodeWork(const ops::NodeView& view,
                 std::span<const ops::TensorType> outputs) {
  if (outputs.empty()) return 0;
  return MultiplyWork(Product(outputs[0].dims), WorkPerElement(view));
}

absl::Status CheckWork(const ops::NodeView& view,
                       std::span<const ops::TensorType> outputs,
                       int64_t limit) {
  const int64_t work = NodeWork(view, outputs);
  if (work <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a run takes about ", work,
      " multiplications or moves, and the CPU is given ", limit, " at most"));
}

}  // namespace reprise::cpu
