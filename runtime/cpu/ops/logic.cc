// Comparisons, logic, bits, and the operators with any number of inputs.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/arithmetic.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/ops/rows.h"
#include "runtime/ops/elementwise.h"

namespace reprise::cpu {
namespace {

struct EqualFn {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct GreaterFn {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterOrEqualFn {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct LessFn {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessOrEqualFn {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

// BOOL compares as integers: any byte but 0 is true.
template <typename Fn>
absl::StatusOr<Kernel> Compare(const KernelRequest& request) {
  const DType compute = ComputeTypeOf(request.view.dtype(0));
  return VisitCompute(request.view.dtype(0),
                      [&](auto tag) -> absl::StatusOr<Kernel> {
                        using T = typename decltype(tag)::type;
                        return RowKernel(request, compute, DType::kBool,
                                         BinaryRow<T, bool, Fn>);
                      });
}

// Logic on bytes, any of which but 0 is true, whatever a client sent.
struct AndFn {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a && b; }
};
struct OrFn {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a || b; }
};
struct XorFn {
  uint8_t operator()(uint8_t a, uint8_t b) const { return !a != !b; }
};
struct NotFn {
  uint8_t operator()(uint8_t a) const { return !a; }
};

struct BitAndFn {
  template <typename T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct BitOrFn {
  template <typename T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct BitXorFn {
  template <typename T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct BitNotFn {
  template <typename T>
  T operator()(T a) const {
    return ~a;
  }
};

// Of unsigned elements, narrow ones as 64 bits: what leaves the narrow type is
// cut off.
struct ShiftLeftFn {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return b >= 64 ? 0 : a << b;
  }
};
struct ShiftRightFn {
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return b >= 64 ? 0 : a >> b;
  }
};

DType Unsigned(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return DType::kUint8;
    case DType::kInt16:
      return DType::kUint16;
    case DType::kInt32:
      return DType::kUint32;
    case DType::kInt64:
      return DType::kUint64;
    default:
      return dtype;
  }
}

absl::StatusOr<Kernel> MakeShift(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const bool left, ops::ReadShiftsLeft(request.view));
  const DType dtype = Unsigned(request.view.dtype(0));
  const RowOperand inputs[] = {{dtype, DType::kUint64, request.view.dims(0)},
                               {dtype, DType::kUint64, request.view.dims(1)}};
  return RowKernel({dtype, DType::kUint64, request.outputs[0].dims}, inputs,
                   left ? BinaryRow<uint64_t, uint64_t, ShiftLeftFn>
                        : BinaryRow<uint64_t, uint64_t, ShiftRightFn>);
}

template <typename T>
RowFn BitsRow(absl::string_view op) {
  if (op == "BitwiseAnd") return BinaryRow<T, T, BitAndFn>;
  if (op == "BitwiseOr") return BinaryRow<T, T, BitOrFn>;
  if (op == "BitwiseXor") return BinaryRow<T, T, BitXorFn>;
  return UnaryRow<T, T, BitNotFn>;
}

struct SameFn {
  template <typename T>
  T operator()(T a) const {
    return a;
  }
};

template <typename T>
void DivideRow(const Row& row) {
  const T* x = row.input<T>(0);
  T* y = row.output<T>();
  const T count = static_cast<T>(row.params.a);
  for (int64_t i = 0; i < row.n; ++i) y[i] = x[i * row.step[0]] / count;
}

// The functions of one operator: of the first input, of the result so far and a
// further input, and of the result in the end (or null).
struct Folding {
  RowFn first;
  RowFn next;
  RowFn last;
};

template <typename T>
Folding FoldingOf(absl::string_view op) {
  Folding folding{UnaryRow<T, T, SameFn>, nullptr, nullptr};
  if (op == "Max") {
    folding.next = BinaryRow<T, T, MaxFn>;
  } else if (op == "Min") {
    folding.next = BinaryRow<T, T, MinFn>;
  } else {
    folding.next = BinaryRow<T, T, AddFn>;
    if (op == "Mean") folding.last = DivideRow<T>;
  }
  return folding;
}

}  // namespace

absl::StatusOr<Kernel> MakeCompare(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  if (op == "Equal") return Compare<EqualFn>(request);
  if (op == "Greater") return Compare<GreaterFn>(request);
  if (op == "GreaterOrEqual") return Compare<GreaterOrEqualFn>(request);
  if (op == "Less") return Compare<LessFn>(request);
  return Compare<LessOrEqualFn>(request);
}

absl::StatusOr<Kernel> MakeLogic(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  RowFn fn = UnaryRow<uint8_t, uint8_t, NotFn>;
  if (op == "And") fn = BinaryRow<uint8_t, uint8_t, AndFn>;
  if (op == "Or") fn = BinaryRow<uint8_t, uint8_t, OrFn>;
  if (op == "Xor") fn = BinaryRow<uint8_t, uint8_t, XorFn>;
  return RowKernel(request, DType::kBool, DType::kBool, fn);
}

absl::StatusOr<Kernel> MakeBits(const KernelRequest& request) {
  if (request.view.op() == "BitShift") return MakeShift(request);
  const DType compute = ComputeTypeOf(request.view.dtype(0));
  return VisitComputeInteger(compute, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    return RowKernel(request, compute, compute, BitsRow<T>(request.view.op()));
  });
}

absl::StatusOr<Kernel> MakeVariadic(const KernelRequest& request) {
  const DType dtype = request.view.dtype(0);
  const DType compute = ComputeTypeOf(dtype);
  REPRISE_ASSIGN_OR_RETURN(
      const Folding folding,
      VisitCompute(dtype, [&](auto tag) -> absl::StatusOr<Folding> {
        return FoldingOf<typename decltype(tag)::type>(request.view.op());
      }));
  const RowOperand output{dtype, compute, request.outputs[0].dims};
  std::vector<RowWalk> walks;
  for (size_t i = 0; i < request.view.input_count(); ++i) {
    const RowOperand input{dtype, compute, request.view.dims(i)};
    const RowOperand both[] = {output, input};
    if (i == 0) {
      walks.emplace_back(output, std::span(&input, 1), folding.first);
    } else {
      walks.emplace_back(output, both, folding.next);
    }
  }
  if (folding.last != nullptr) {
    const RowParams count{.a = static_cast<double>(request.view.input_count())};
    walks.emplace_back(output, std::span(&output, 1), folding.last, count);
  }
  return Kernel{[walks = std::move(walks)](const KernelArgs& args) {
    std::byte* const y = args.outputs[0];
    for (size_t i = 0; i < walks.size(); ++i) {
      const bool own = i == 0 || i >= args.inputs.size();
      const std::byte* const operands[] = {i == 0 ? args.inputs[0] : y,
                                           own ? nullptr : args.inputs[i]};
      walks[i].Run(std::span(operands, own ? 1 : 2), y);
    }
  }};
}

}  // namespace reprise::cpu
