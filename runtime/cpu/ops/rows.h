// Element-wise kernels: a function of rows, and the walk that feeds it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/ops/convert.h"
#include "runtime/cpu/strided.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise::cpu {

inline constexpr int kMaxRowInputs = kMaxOperands - 1;

// What a function needs besides the elements: a slope, bounds, a count. Which
// field holds what is between a kernel and its function.
struct RowParams {
  double a = 0;
  double b = 0;
  int64_t low = 0;
  int64_t high = 0;
};

// `n` elements of each operand, in the dtypes that the function computes in. An
// input's step is 1, or 0 if one value stands for the row; outputs are dense.
// The output may lie where an input lies.
struct Row {
  std::array<const std::byte*, kMaxRowInputs> in{};
  std::array<int64_t, kMaxRowInputs> step{};
  std::byte* out = nullptr;
  int64_t n = 0;
  RowParams params;

  template <typename T>
  const T* input(size_t i) const {
    return reinterpret_cast<const T*>(in[i]);
  }
  template <typename T>
  T* output() const {
    return reinterpret_cast<T*>(out);
  }
};
using RowFn = void (*)(const Row& row);

// fn(TypeTag<T>()) for the type that elements of `dtype`, a number or BOOL, are
// computed in; UNIMPLEMENTED for kString.
template <typename Fn>
auto VisitCompute(DType dtype, Fn fn) -> decltype(fn(TypeTag<float>())) {
  if (dtype == DType::kString) return ops::NotRunHere("not run for BYTES");
  switch (ComputeTypeOf(dtype)) {
    case DType::kFp32:
      return fn(TypeTag<float>());
    case DType::kFp64:
      return fn(TypeTag<double>());
    case DType::kInt32:
      return fn(TypeTag<int32_t>());
    case DType::kInt64:
      return fn(TypeTag<int64_t>());
    default:
      return fn(TypeTag<uint64_t>());
  }
}

// The same for those of them that are no floats.
template <typename Fn>
auto VisitComputeInteger(DType dtype, Fn fn)
    -> decltype(fn(TypeTag<int32_t>())) {
  switch (ComputeTypeOf(dtype)) {
    case DType::kInt32:
      return fn(TypeTag<int32_t>());
    case DType::kInt64:
      return fn(TypeTag<int64_t>());
    case DType::kUint64:
      return fn(TypeTag<uint64_t>());
    default:
      return ops::NotRunHere(
          absl::StrCat("not run for elements of ", DTypeName(dtype)));
  }
}

// y = fn(x), element by element.
template <typename T, typename R, typename Fn>
void UnaryRow(const Row& row) {
  const T* x = row.input<T>(0);
  R* y = row.output<R>();
  const int64_t n = row.n;
  const Fn fn;
  if (row.step[0] == 0) {
    std::fill_n(y, n, static_cast<R>(fn(*x)));
    return;
  }
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<R>(fn(x[i]));
}

// y = fn(a, b), element by element. The loops that are worth vector code are
// written out.
template <typename T, typename R, typename Fn>
void BinaryRow(const Row& row) {
  const T* a = row.input<T>(0);
  const T* b = row.input<T>(1);
  R* y = row.output<R>();
  const int64_t n = row.n;
  const Fn fn;
  if (row.step[0] == 0) {
    const T left = *a;
    if (row.step[1] == 0) {
      std::fill_n(y, n, static_cast<R>(fn(left, *b)));
      return;
    }
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<R>(fn(left, b[i]));
  } else if (row.step[1] == 0) {
    const T right = *b;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<R>(fn(a[i], right));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<R>(fn(a[i], b[i]));
  }
}

// An operand: the dtype of its elements, its dims (an input's broadcast to the
// output's), and the dtype that the function takes or gives.
struct RowOperand {
  DType dtype = DType::kFp32;
  DType compute = DType::kFp32;
  Dims dims;
};

// A function applied to whole tensors. It is compiled once, whatever the
// function and the dtypes: what differs is called through pointers, once a row
// or once a chunk where elements are converted.
class RowWalk {
 public:
  RowWalk(const RowOperand& output, std::span<const RowOperand> inputs,
          RowFn fn, RowParams params = {});

  // `inputs` and `output` point to whole tensors.
  void Run(std::span<const std::byte* const> inputs, std::byte* output) const;

 private:
  void RunRow(const Row& whole) const;

  StridedLoop loop_;
  int inputs_ = 0;
  RowFn fn_;
  RowParams params_;
  std::array<Converter, kMaxRowInputs> load_;
  Converter store_;
  bool copies_ = true;    // no operand is converted
  bool chunked_ = false;  // some operand is converted element by element
};

// A kernel of inputs 0, 1, ... into output 0.
Kernel RowKernel(const RowOperand& output, std::span<const RowOperand> inputs,
                 RowFn fn, RowParams params = {});

// The same with a node's dtypes and dims: its inputs are taken in `compute`,
// its output is made in `result`.
Kernel RowKernel(const KernelRequest& request, DType compute, DType result,
                 RowFn fn, RowParams params = {});

}  // namespace reprise::cpu
