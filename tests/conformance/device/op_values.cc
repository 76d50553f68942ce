#include "tests/conformance/device/op_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/tensor/float16.h"

namespace reprise::conformance {
namespace {

// Calls `body` with a value of the type that elements of `dtype` are.
template <typename Body>
auto WithType(DType dtype, Body body) {
  switch (dtype) {
    case DType::kInt8:
      return body(int8_t{});
    case DType::kInt16:
      return body(int16_t{});
    case DType::kInt32:
      return body(int32_t{});
    case DType::kInt64:
      return body(int64_t{});
    case DType::kUint16:
      return body(uint16_t{});
    case DType::kUint32:
      return body(uint32_t{});
    case DType::kUint64:
      return body(uint64_t{});
    case DType::kFp16:
      return body(Half{});
    case DType::kBf16:
      return body(BFloat16{});
    case DType::kFp32:
      return body(float{});
    case DType::kFp64:
      return body(double{});
    default:
      return body(uint8_t{});
  }
}

// Looks random, the same for each seed.
class Sequence {
 public:
  explicit Sequence(unsigned seed) : state_(seed * 2654435761u + 12345u) {}
  unsigned Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }

 private:
  unsigned state_;
};

template <typename T>
T ElementOf(double number) {
  if constexpr (std::is_integral_v<T>) {
    const double whole = std::trunc(number);
    return static_cast<T>(std::is_signed_v<T> ? whole : std::abs(whole));
  } else if constexpr (std::is_same_v<T, double>) {
    return number;
  } else {
    return static_cast<T>(static_cast<float>(number));
  }
}

template <typename T>
T SpecialOf(unsigned which, [[maybe_unused]] bool nan) {
  if constexpr (std::is_integral_v<T>) {
    constexpr T kEnds[] = {std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max(), T{0}, T{1},
                           static_cast<T>(-1)};
    return kEnds[which % std::size(kEnds)];
  } else {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kEnds[] = {kInf, -kInf, 0.0, -0.0,
                                std::numeric_limits<double>::quiet_NaN()};
    const auto count = static_cast<unsigned>(std::size(kEnds));
    return ElementOf<T>(kEnds[which % (nan ? count : count - 1)]);
  }
}

}  // namespace

HostTensor MakeOperand(const Operand& operand, int rows, unsigned seed) {
  Dims dims = operand.dims;
  if (!dims.empty() && dims[0] == kFreeDim) dims[0] = rows;
  HostTensor tensor = HostTensor::Create(operand.dtype, dims).value();
  const Values& values = operand.values;
  const auto steps =
      static_cast<unsigned>((values.high - values.low) / values.step) + 1;
  Sequence sequence(seed);
  WithType(operand.dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> elements = tensor.values<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      const unsigned drawn = sequence.Next();
      if (i < operand.given.size()) {
        elements[i] = ElementOf<T>(operand.given[i]);
      } else if (values.special != Special::kNone && drawn % 3 == 0) {
        elements[i] =
            SpecialOf<T>(sequence.Next(), values.special == Special::kNan);
      } else {
        elements[i] = ElementOf<T>(values.low + values.step * (drawn % steps));
      }
    }
  });
  if (operand.dtype == DType::kBool) {
    for (uint8_t& value : tensor.values<uint8_t>()) value %= 2;
  }
  return tensor;
}

double NumberAt(const HostTensor& tensor, size_t i) {
  return WithType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T value = tensor.values<T>()[i];
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<double>(value);
    } else {
      return static_cast<double>(static_cast<float>(value));
    }
  });
}

}  // namespace reprise::conformance
