// Element-wise arithmetic of two tensors, broadcast.
#include "runtime/cpu/ops/binary.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/ops/elementwise.h"

namespace reprise::cpu {
namespace {

// Integer arithmetic wraps around; in int64 so that narrow types do not
// promote into undefined overflow.
template <typename C>
using Wrapping = std::conditional_t<std::is_integral_v<C>, uint64_t, C>;

struct AddFn {
  template <typename C>
  C operator()(C a, C b) const {
    using W = Wrapping<C>;
    return static_cast<C>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct SubFn {
  template <typename C>
  C operator()(C a, C b) const {
    using W = Wrapping<C>;
    return static_cast<C>(static_cast<W>(a) - static_cast<W>(b));
  }
};
struct MulFn {
  template <typename C>
  C operator()(C a, C b) const {
    using W = Wrapping<C>;
    return static_cast<C>(static_cast<W>(a) * static_cast<W>(b));
  }
};

// Whether an integer division of `a` by `b` has no answer to give.
template <typename C>
bool NoQuotient(C a, C b) {
  if (b == 0) return true;
  if constexpr (std::is_signed_v<C>) {
    return b == -1 && a == std::numeric_limits<C>::min();
  }
  return false;
}

struct DivFn {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (NoQuotient(a, b)) return b == 0 ? C{0} : a;
      return static_cast<C>(a / b);
    } else {
      return a / b;
    }
  }
};

struct PReluFn {
  template <typename C>
  C operator()(C x, C slope) const {
    return x < C{0} ? static_cast<C>(MulFn()(x, slope)) : x;
  }
};

template <typename Fn>
absl::StatusOr<Kernel> ForNumbers(const KernelRequest& request, Fn fn) {
  return VisitNumber(request.view.dtype(0),
                     [&](auto tag) -> absl::StatusOr<Kernel> {
                       using T = typename decltype(tag)::type;
                       return BinaryKernel<T, T>(request, fn);
                     });
}

// Python's modulo: the sign of the divisor.
template <typename C>
C FloorMod(C a, C b) {
  if (NoQuotient(a, b)) return C{0};
  const C rest = static_cast<C>(a % b);
  return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<C>(rest + b) : rest;
}

template <typename C>
C CMod(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    return NoQuotient(a, b) ? C{0} : static_cast<C>(a % b);
  } else {
    return std::fmod(a, b);
  }
}

// Element `i` of an exponent of any dtype: one load a dtype, rather than one
// kernel a pair of dtypes.
using LoadExponent = double (*)(const std::byte* data, int64_t i);

template <typename E>
double LoadAs(const std::byte* data, int64_t i) {
  return static_cast<double>(
      static_cast<ComputeType<E>>(reinterpret_cast<const E*>(data)[i]));
}

template <typename T>
void PowRow(const StridedLoop& loop, const T* base, double exponent, T* out) {
  using C = ComputeType<T>;
  const int64_t step_out = loop.inner_stride(0);
  const int64_t step_base = loop.inner_stride(1);
  for (int64_t i = 0; i < loop.inner(); ++i) {
    const C x = static_cast<C>(base[i * step_base]);
    if constexpr (std::is_same_v<C, float>) {
      const auto e = static_cast<float>(exponent);
      out[i * step_out] = e == 2.0F ? x * x : std::pow(x, e);
    } else {
      out[i * step_out] =
          static_cast<T>(std::pow(static_cast<double>(x), exponent));
    }
  }
}

// Rows whose exponent is one value (Pow(x, 2) of a normalisation) are walked
// as such; others element by element.
template <typename T>
Kernel PowKernel(const KernelRequest& request, LoadExponent load) {
  StridedLoop loop = BinaryLoop(request);
  StridedLoop one = loop;
  one.dims[static_cast<size_t>(one.axes - 1)] = 1;
  return {[loop, one, load](const KernelArgs& args) {
    const T* base = args.in<T>(0);
    const std::byte* exponents = args.in<std::byte>(1);
    T* out = args.out<T>(0);
    const bool constant_row = loop.inner_stride(2) == 0;
    ForEachRow(loop, [&](const auto& at) {
      if (constant_row) {
        PowRow(loop, base + at[1], load(exponents, at[2]), out + at[0]);
        return;
      }
      for (int64_t i = 0; i < loop.inner(); ++i) {
        PowRow(one, base + at[1] + i * loop.inner_stride(1),
               load(exponents, at[2] + i * loop.inner_stride(2)),
               out + at[0] + i * loop.inner_stride(0));
      }
    });
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakeArithmetic(const KernelRequest& request) {
  const absl::string_view op = request.view.op();
  if (op == "Add") return ForNumbers(request, AddFn());
  if (op == "Sub") return ForNumbers(request, SubFn());
  if (op == "Mul") return ForNumbers(request, MulFn());
  if (op == "Div") return ForNumbers(request, DivFn());
  return ForNumbers(request, PReluFn());
}

absl::StatusOr<Kernel> MakePow(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(
      const LoadExponent load,
      VisitNumber(request.view.dtype(1),
                  [](auto tag) -> absl::StatusOr<LoadExponent> {
                    return LoadExponent{&LoadAs<typename decltype(tag)::type>};
                  }));
  return VisitNumber(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        return PowKernel<typename decltype(tag)::type>(request, load);
      });
}

absl::StatusOr<Kernel> MakeMod(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const bool c_like, ops::ReadFmod(request.view));
  if (c_like) {
    return ForNumbers(request, [](auto a, auto b) { return CMod(a, b); });
  }
  return VisitInteger(request.view.dtype(0),
                      [&](auto tag) -> absl::StatusOr<Kernel> {
                        using T = typename decltype(tag)::type;
                        return BinaryKernel<T, T>(
                            request, [](T a, T b) { return FloorMod(a, b); });
                      });
}

}  // namespace reprise::cpu
