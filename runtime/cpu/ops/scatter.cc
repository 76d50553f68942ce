// ScatterElements, ScatterND and OneHot. An index out of range writes nothing.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/ops/layout.h"

namespace reprise::cpu {
namespace {

enum class Combine { kReplace, kAdd, kMul, kMax, kMin };

absl::StatusOr<Combine> ReadCombine(const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const std::string word,
                           view.attributes().String("reduction", "none"));
  if (word == "none") return Combine::kReplace;
  if (word == "add") return Combine::kAdd;
  if (word == "mul") return Combine::kMul;
  if (word == "max") return Combine::kMax;
  if (word == "min") return Combine::kMin;
  return ops::BadNode(absl::StrCat("unknown reduction '", word, "'"));
}

template <typename T>
void Apply(Combine combine, T& into, T value) {
  using C = ComputeType<T>;
  const C a = static_cast<C>(into);
  const C b = static_cast<C>(value);
  switch (combine) {
    case Combine::kReplace:
      into = value;
      return;
    case Combine::kAdd:
      into = static_cast<T>(a + b);
      return;
    case Combine::kMul:
      into = static_cast<T>(a * b);
      return;
    case Combine::kMax:
      into = static_cast<T>(std::max(a, b));
      return;
    case Combine::kMin:
      into = static_cast<T>(std::min(a, b));
      return;
  }
}

int64_t Normal(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? index : -1;
}

template <typename T, typename I>
Kernel ScatterElementsKernel(const Dims& data, const Dims& updates,
                             int64_t axis, Combine combine) {
  const Dims strides = Strides(data);
  int64_t total = 1;
  for (const int64_t dim : data) total *= dim;
  int64_t count = 1;
  for (const int64_t dim : updates) count *= dim;
  return {[=](const KernelArgs& args) {
    T* y = args.out<T>(0);
    std::copy_n(args.in<T>(0), total, y);
    const I* indices = args.in<I>(1);
    const T* values = args.in<T>(2);
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i;
      int64_t at = 0;
      for (auto k = static_cast<int64_t>(updates.size()) - 1; k >= 0; --k) {
        if (k != axis) at += rest % updates[k] * strides[k];
        rest /= updates[k];
      }
      const int64_t chosen = Normal(indices[i], data[axis]);
      if (chosen < 0) continue;
      Apply(combine, y[at + chosen * strides[axis]], values[i]);
    }
  }};
}

template <typename T>
Kernel ScatterNdKernel(const Dims& data, const Dims& indices, Combine combine) {
  const Dims strides = Strides(data);
  const int64_t depth = indices.back();
  int64_t total = 1;
  for (const int64_t dim : data) total *= dim;
  int64_t tuples = 1;
  for (size_t i = 0; i + 1 < indices.size(); ++i) tuples *= indices[i];
  int64_t inner = 1;
  for (auto i = static_cast<size_t>(depth); i < data.size(); ++i) {
    inner *= data[i];
  }
  return {[=](const KernelArgs& args) {
    T* y = args.out<T>(0);
    std::copy_n(args.in<T>(0), total, y);
    const int64_t* tuple = args.in<int64_t>(1);
    const T* values = args.in<T>(2);
    for (int64_t t = 0; t < tuples; ++t, tuple += depth, values += inner) {
      int64_t at = 0;
      bool inside = true;
      for (int64_t d = 0; d < depth; ++d) {
        const int64_t chosen = Normal(tuple[d], data[d]);
        inside = inside && chosen >= 0;
        at += chosen * strides[d];
      }
      for (int64_t i = 0; inside && i < inner; ++i) {
        Apply(combine, y[at + i], values[i]);
      }
    }
  }};
}

// Moving needs no arithmetic type; combining does.
template <typename Fn>
absl::StatusOr<Kernel> VisitFor(Combine combine, DType dtype, Fn fn) {
  if (combine == Combine::kReplace && dtype != DType::kString) {
    switch (ElementSize(dtype)) {
      case 1:
        return fn(TypeTag<uint8_t>());
      case 2:
        return fn(TypeTag<uint16_t>());
      case 4:
        return fn(TypeTag<uint32_t>());
      default:
        return fn(TypeTag<uint64_t>());
    }
  }
  return VisitNumber(dtype, fn);
}

template <typename T, typename I>
Kernel OneHotKernel(const KernelRequest& request, int64_t axis) {
  const Dims& out = request.outputs[0].dims;
  const int64_t depth = out[axis];
  int64_t inner = 1;
  for (auto i = static_cast<size_t>(axis) + 1; i < out.size(); ++i) {
    inner *= out[i];
  }
  int64_t outer = 1;
  for (int64_t i = 0; i < axis; ++i) outer *= out[i];
  return {[=](const KernelArgs& args) {
    const I* indices = args.in<I>(0);
    const T* values = args.in<T>(2);  // off, on
    T* y = args.out<T>(0);
    std::fill_n(y, outer * depth * inner, values[0]);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t chosen =
            Normal(static_cast<int64_t>(indices[o * inner + i]), depth);
        if (chosen >= 0) y[(o * depth + chosen) * inner + i] = values[1];
      }
    }
  }};
}

}  // namespace

absl::StatusOr<Kernel> MakeScatterElements(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           ops::ReadGatherAxis(request.view));
  REPRISE_ASSIGN_OR_RETURN(const Combine combine, ReadCombine(request.view));
  return VisitIndex(
      request.view.dtype(1), [&](auto index) -> absl::StatusOr<Kernel> {
        return VisitFor(
            combine, request.view.dtype(0),
            [&](auto tag) -> absl::StatusOr<Kernel> {
              return ScatterElementsKernel<typename decltype(tag)::type,
                                           typename decltype(index)::type>(
                  request.view.dims(0), request.view.dims(2), axis, combine);
            });
      });
}

absl::StatusOr<Kernel> MakeScatterNd(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const Combine combine, ReadCombine(request.view));
  return VisitFor(combine, request.view.dtype(0),
                  [&](auto tag) -> absl::StatusOr<Kernel> {
                    return ScatterNdKernel<typename decltype(tag)::type>(
                        request.view.dims(0), request.view.dims(1), combine);
                  });
}

absl::StatusOr<Kernel> MakeOneHot(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t raw,
                           request.view.attributes().Int("axis", -1));
  REPRISE_ASSIGN_OR_RETURN(
      const int64_t axis,
      ops::NormalizeAxis(raw,
                         static_cast<int64_t>(request.outputs[0].dims.size())));
  return VisitNumber(
      request.view.dtype(0), [&](auto index) -> absl::StatusOr<Kernel> {
        return VisitBytes(request.view.dtype(2),
                          [&](auto tag) -> absl::StatusOr<Kernel> {
                            return OneHotKernel<typename decltype(tag)::type,
                                                typename decltype(index)::type>(
                                request, axis);
                          });
      });
}

}  // namespace reprise::cpu
