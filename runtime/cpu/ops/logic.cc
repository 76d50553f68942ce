// Comparisons, logic, bits, and the operators with any number of inputs.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/binary.h"
#include "runtime/cpu/ops/families.h"

namespace reprise::cpu {
namespace {

template <typename Fn>
absl::StatusOr<Kernel> Compare(const KernelRequest& request, Fn fn) {
  if (request.view.dtype(0) == DType::kBool) {  // any byte but 0 is true
    return BinaryKernel<uint8_t, bool>(
        request, [fn](uint8_t a, uint8_t b) { return fn(a != 0, b != 0); });
  }
  return VisitNumber(request.view.dtype(0),
                     [&](auto tag) -> absl::StatusOr<Kernel> {
                       using T = typename decltype(tag)::type;
                       return BinaryKernel<T, bool>(request, fn);
                     });
}

template <typename T>
T ShiftLeft(T a, T b) {
  return b >= sizeof(T) * 8 ? T{0} : static_cast<T>(uint64_t{a} << b);
}

template <typename T>
T ShiftRight(T a, T b) {
  return b >= sizeof(T) * 8 ? T{0} : static_cast<T>(a >> b);
}

absl::StatusOr<Kernel> MakeShift(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const std::string direction,
                           request.view.attributes().String("direction", ""));
  return VisitInteger(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        using T = std::make_unsigned_t<typename decltype(tag)::type>;
        if (direction == "LEFT") {
          return BinaryKernel<T, T>(request,
                                    [](T a, T b) { return ShiftLeft(a, b); });
        }
        return BinaryKernel<T, T>(request,
                                  [](T a, T b) { return ShiftRight(a, b); });
      });
}

// Folds the inputs into output 0 with `fn`, one after the other; each is
// broadcast to the output.
template <typename T, typename Fn>
Kernel VariadicKernel(const KernelRequest& request, bool mean, Fn fn) {
  const Dims& out = request.outputs[0].dims;
  std::vector<StridedLoop> loops;
  for (size_t i = 0; i < request.view.input_count(); ++i) {
    const Dims strides[] = {BroadcastStrides(out, out),
                            BroadcastStrides(out, out),
                            BroadcastStrides(request.view.dims(i), out)};
    loops.push_back(MakeLoop(out, strides));
  }
  return {[loops = std::move(loops), mean, fn](const KernelArgs& args) {
    T* y = args.out<T>(0);
    using C = ComputeType<T>;
    for (size_t i = 0; i < loops.size(); ++i) {
      const T* x = args.in<T>(i);
      if (i == 0) {
        RunBinary(loops[0], x, x, y, [](C, C b) { return b; });
      } else {
        RunBinary(loops[i], y, x, y, fn);
      }
    }
    if (mean) {
      const C count = static_cast<C>(loops.size());
      RunBinary(loops[0], y, y, y, [count](C a, C) { return a / count; });
    }
  }};
}

// NaN wins, as in numpy.
struct MaxFn {
  template <typename C>
  C operator()(C a, C b) const {
    return a > b || a != a ? a : b;
  }
};
struct MinFn {
  template <typename C>
  C operator()(C a, C b) const {
    return a < b || a != a ? a : b;
  }
};
struct SumFn {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a + b);
  }
};

}  // namespace

absl::StatusOr<Kernel> MakeCompare(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  if (op == "Equal") {
    return Compare(request, [](auto a, auto b) { return a == b; });
  }
  if (op == "Greater") {
    return Compare(request, [](auto a, auto b) { return a > b; });
  }
  if (op == "GreaterOrEqual") {
    return Compare(request, [](auto a, auto b) { return a >= b; });
  }
  if (op == "Less") {
    return Compare(request, [](auto a, auto b) { return a < b; });
  }
  return Compare(request, [](auto a, auto b) { return a <= b; });
}

absl::StatusOr<Kernel> MakeLogic(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  // Any byte but 0 is true, whatever a client sent.
  using T = uint8_t;
  if (op == "Not") {
    REPRISE_ASSIGN_OR_RETURN(const int64_t n,
                             NumElements(request.view.dims(0)));
    return Kernel{[n](const KernelArgs& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] == 0 ? 1 : 0;
    }};
  }
  if (op == "And") {
    return BinaryKernel<T, T>(request, [](T a, T b) { return a && b; });
  }
  if (op == "Or") {
    return BinaryKernel<T, T>(request, [](T a, T b) { return a || b; });
  }
  return BinaryKernel<T, T>(request, [](T a, T b) { return !a != !b; });
}

absl::StatusOr<Kernel> MakeBits(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  if (op == "BitShift") return MakeShift(request);
  return VisitInteger(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        using T = typename decltype(tag)::type;
        if (op == "BitwiseAnd") {
          return BinaryKernel<T, T>(request, [](T a, T b) { return a & b; });
        }
        if (op == "BitwiseOr") {
          return BinaryKernel<T, T>(request, [](T a, T b) { return a | b; });
        }
        if (op == "BitwiseXor") {
          return BinaryKernel<T, T>(request, [](T a, T b) { return a ^ b; });
        }
        REPRISE_ASSIGN_OR_RETURN(const int64_t n,
                                 NumElements(request.view.dims(0)));
        return Kernel{[n](const KernelArgs& args) {
          const T* x = args.in<T>(0);
          T* y = args.out<T>(0);
          for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(~x[i]);
        }};
      });
}

absl::StatusOr<Kernel> MakeVariadic(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  return VisitNumber(request.view.dtype(0),
                     [&](auto tag) -> absl::StatusOr<Kernel> {
                       using T = typename decltype(tag)::type;
                       if (op == "Max")
                         return VariadicKernel<T>(request, false, MaxFn());
                       if (op == "Min")
                         return VariadicKernel<T>(request, false, MinFn());
                       return VariadicKernel<T>(request, op == "Mean", SumFn());
                     });
}

}  // namespace reprise::cpu
