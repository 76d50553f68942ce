#include "client/cli/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

template <typename T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
void Append(T value, std::string& bytes) {
  char buffer[sizeof(T)];
  std::memcpy(buffer, &value, sizeof(T));
  bytes.append(buffer, sizeof(T));
}

double Number(Half half) {
  const int exponent = (half.bits >> 10) & 31;
  const int mantissa = half.bits & 1023;
  const double sign = (half.bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  if (exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

double Number(BFloat value) {
  const uint32_t bits = uint32_t{value.bits} << 16;
  float number = 0;
  std::memcpy(&number, &bits, sizeof(number));
  return double{number};
}

template <typename T>
double Number(T value) {
  return static_cast<double>(value);
}

Half ToHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (std::isnan(value)) return {static_cast<uint16_t>(sign | 0x7E00)};
  if (size == 0) return {sign};  // frexp gives it no exponent
  if (size >= 65520) return {static_cast<uint16_t>(sign | 0x7C00)};
  int exponent = 0;
  std::frexp(size, &exponent);
  // The weight of the last bit: 2^(exponent - 11), 2^-24 for subnormals.
  const int last = std::max(exponent - 11, -24);
  const int units = static_cast<int>(std::nearbyint(std::ldexp(size, -last)));
  // Normal numbers have units in [1024, 2048]; the carry of 2048 moves into the
  // exponent by itself.
  const int bits = units + (last + 24) * 1024;
  return {static_cast<uint16_t>(sign | bits)};
}

BFloat ToBFloat(double value) {
  const float number = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof(bits));
  if (std::isnan(number)) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  const uint32_t rounding = 0x7FFF + ((bits >> 16) & 1);
  return {static_cast<uint16_t>((bits + rounding) >> 16)};
}

template <typename T>
T ToInteger(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(rounded);
}

// Calls `use` with a value of the C++ type that `datatype` stands for.
template <typename Use>
auto WithType(absl::string_view datatype, Use use) {
  if (datatype == "UINT8") return use(uint8_t{});
  if (datatype == "UINT16") return use(uint16_t{});
  if (datatype == "UINT32") return use(uint32_t{});
  if (datatype == "UINT64") return use(uint64_t{});
  if (datatype == "INT8") return use(int8_t{});
  if (datatype == "INT16") return use(int16_t{});
  if (datatype == "INT32") return use(int32_t{});
  if (datatype == "INT64") return use(int64_t{});
  if (datatype == "FP16") return use(Half{});
  if (datatype == "BF16") return use(BFloat{});
  if (datatype == "FP32") return use(float{});
  if (datatype == "FP64") return use(double{});
  return use(bool{});
}

template <typename T>
T FromNumber(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return ToHalf(value);
  } else if constexpr (std::is_same_v<T, BFloat>) {
    return ToBFloat(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return ToInteger<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
Json ToJson(const char* bytes) {
  if constexpr (std::is_same_v<T, bool>) {
    return Json(*bytes != 0);
  } else if constexpr (std::is_integral_v<T>) {
    return Json(Load<T>(bytes));
  } else {
    const double number = Number(Load<T>(bytes));
    return std::isfinite(number) ? Json(number) : Json(nullptr);
  }
}

// The element as the type that orders it: itself for an integer.
template <typename T>
auto Ordered(const char* bytes) {
  if constexpr (std::is_same_v<T, bool>) {
    return *bytes != 0 ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return Load<T>(bytes);
  } else {
    return Number(Load<T>(bytes));
  }
}

template <typename Value>
bool IsNumber(Value value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return !std::isnan(value);
  } else {
    return true;
  }
}

template <typename Value>
std::vector<size_t> Largest(const std::vector<Value>& values, size_t k) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&values](size_t a, size_t b) {
    const bool a_number = IsNumber(values[a]);
    const bool b_number = IsNumber(values[b]);
    if (a_number != b_number) return a_number;
    if (a_number && values[a] != values[b]) return values[a] > values[b];
    return a < b;
  };
  k = std::min(k, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(k),
                    order.end(), before);
  order.resize(k);
  return order;
}

}  // namespace

bool IsFloatType(absl::string_view datatype) {
  return datatype == "FP16" || datatype == "BF16" || datatype == "FP32" ||
         datatype == "FP64";
}

double ReadElement(absl::string_view datatype, const char* bytes) {
  return WithType(datatype, [bytes](auto type) {
    if constexpr (std::is_same_v<decltype(type), bool>) {
      return *bytes != 0 ? 1.0 : 0.0;
    } else {
      return Number(Load<decltype(type)>(bytes));
    }
  });
}

void AppendElement(absl::string_view datatype, double value,
                   std::string& bytes) {
  WithType(datatype, [value, &bytes](auto type) {
    Append(FromNumber<decltype(type)>(value), bytes);
  });
}

Json ElementsJson(const Tensor& tensor) {
  Json list = Json::array();
  const size_t size = ElementSize(tensor.datatype).value_or(0);
  if (size == 0) {
    const auto strings = DecodeStrings(tensor.bytes);
    if (strings.ok()) {
      for (const std::string& text : *strings) list.push_back(text);
    }
    return list;
  }
  WithType(tensor.datatype, [&](auto type) {
    for (size_t i = 0; i + size <= tensor.bytes.size(); i += size) {
      list.push_back(ToJson<decltype(type)>(tensor.bytes.data() + i));
    }
  });
  return list;
}

Json ElementJson(absl::string_view datatype, const char* bytes) {
  return WithType(datatype,
                  [bytes](auto type) { return ToJson<decltype(type)>(bytes); });
}

std::string ElementText(absl::string_view datatype, const char* bytes) {
  return WithType(datatype, [bytes](auto type) {
    const auto value = Ordered<decltype(type)>(bytes);
    if constexpr (std::is_integral_v<decltype(type)>) {
      return std::to_string(value);  // StrCat takes a byte for a character
    } else {
      return absl::StrFormat("%.6g", value);
    }
  });
}

std::vector<size_t> LargestElements(absl::string_view datatype,
                                    const char* bytes, size_t count, size_t k) {
  const size_t size = ElementSize(datatype).value_or(0);
  return WithType(datatype, [=](auto type) {
    std::vector<decltype(Ordered<decltype(type)>(bytes))> values;
    values.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      values.push_back(Ordered<decltype(type)>(bytes + i * size));
    }
    return Largest(values, k);
  });
}

std::string Preview(const Tensor& tensor, size_t limit) {
  const size_t size = ElementSize(tensor.datatype).value_or(0);
  std::string out;
  size_t count = 0;
  if (size == 0) {
    const auto strings = DecodeStrings(tensor.bytes);
    if (!strings.ok()) return out;
    count = strings->size();
    for (size_t i = 0; i < std::min(count, limit); ++i) {
      absl::StrAppend(
          &out, i == 0 ? "" : ", ",
          Json((*strings)[i])
              .dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  } else {
    count = tensor.bytes.size() / size;
    for (size_t i = 0; i < std::min(count, limit); ++i) {
      absl::StrAppend(
          &out, i == 0 ? "" : ", ",
          ElementText(tensor.datatype, tensor.bytes.data() + i * size));
    }
  }
  if (count > limit) absl::StrAppend(&out, ", ...");
  return out;
}

}  // namespace reprise::client
