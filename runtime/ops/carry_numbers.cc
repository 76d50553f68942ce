#include "runtime/ops/carry_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/base/status_macros.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {
namespace {

template <typename T>
T ToInt(double value) {  // saturating; NaN is 0
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<T>(value);
}

// Element `i` as T: reals are clamped, integers wrap around, as the kernels do.
template <typename T>
T IntAt(const Numbers& numbers, size_t i) {
  if (numbers.real) return ToInt<T>(numbers.reals[i]);
  return static_cast<T>(numbers.ints[i]);
}

}  // namespace

bool Carried(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kInt32 ||
         dtype == DType::kInt64 || dtype == DType::kFp32;
}

Numbers Load(const HostTensor& tensor) {
  Numbers out;
  const auto fill = [&out](auto values) {
    out.ints.assign(values.begin(), values.end());
  };
  switch (tensor.dtype()) {
    case DType::kFp32: {
      const auto values = tensor.values<float>();
      out.real = true;
      out.reals.assign(values.begin(), values.end());
      break;
    }
    case DType::kInt64:
      fill(tensor.values<int64_t>());
      break;
    case DType::kInt32:
      fill(tensor.values<int32_t>());
      break;
    default:
      fill(tensor.values<uint8_t>());
      break;
  }
  return out;
}

absl::StatusOr<Tensors> Store(const Numbers& numbers, const TensorType& type) {
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                           HostTensor::Create(type.dtype, type.dims));
  for (size_t i = 0; i < numbers.size(); ++i) {
    switch (type.dtype) {
      case DType::kFp32:
        tensor.values<float>()[i] = numbers.real
                                        ? static_cast<float>(numbers.reals[i])
                                        : static_cast<float>(numbers.ints[i]);
        break;
      case DType::kInt64:
        tensor.values<int64_t>()[i] = IntAt<int64_t>(numbers, i);
        break;
      case DType::kInt32:
        tensor.values<int32_t>()[i] = IntAt<int32_t>(numbers, i);
        break;
      default:
        tensor.values<uint8_t>()[i] =
            numbers.real ? numbers.reals[i] != 0 : numbers.ints[i] != 0;
        break;
    }
  }
  Tensors out;
  out.push_back(std::move(tensor));
  return out;
}

std::vector<size_t> BroadcastIndex(const Dims& dims, const Dims& out) {
  const Dims strides = Strides(dims);
  const size_t skip = out.size() - dims.size();
  size_t count = 1;
  for (const int64_t extent : out) count *= static_cast<size_t>(extent);
  std::vector<size_t> index(count);
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    int64_t at = 0;
    for (size_t axis = out.size(); axis-- > 0;) {
      const int64_t position =
          static_cast<int64_t>(rest % static_cast<size_t>(out[axis]));
      rest /= static_cast<size_t>(out[axis]);
      if (axis >= skip && dims[axis - skip] != 1) {
        at += position * strides[axis - skip];
      }
    }
    index[i] = static_cast<size_t>(at);
  }
  return index;
}

Numbers Broadcast(const HostTensor& tensor, const Dims& out) {
  const Numbers in = Load(tensor);
  Numbers spread;
  spread.real = in.real;
  for (const size_t at : BroadcastIndex(tensor.dims(), out)) {
    if (in.real) {
      spread.reals.push_back(in.reals[at]);
    } else {
      spread.ints.push_back(in.ints[at]);
    }
  }
  return spread;
}

absl::StatusOr<Tensors> Move(const HostTensor& in, const TensorType& type,
                             const std::vector<size_t>& index) {
  REPRISE_ASSIGN_OR_RETURN(HostTensor out,
                           HostTensor::Create(type.dtype, type.dims));
  const size_t size = ElementSize(type.dtype);
  for (size_t i = 0; i < index.size(); ++i) {
    std::memcpy(out.bytes().data() + i * size,
                in.bytes().data() + index[i] * size, size);
  }
  Tensors tensors;
  tensors.push_back(std::move(out));
  return tensors;
}

}  // namespace reprise::ops
