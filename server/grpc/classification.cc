#include "server/grpc/classification.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/tensor/float16.h"

namespace reprise {
namespace {

// An element as a number that has an order and a text.
template <typename T>
T Value(T value) {
  return value;
}
float Value(Half value) { return value; }
float Value(BFloat16 value) { return value; }

template <typename T>
std::string Text(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value) ? "nan" : absl::StrFormat("%f", value);
  } else {
    return absl::StrCat(value);
  }
}

template <typename T>
bool IsNan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

// Indexes of the largest first; a NaN, which has no rank, keeps its place.
template <typename V>
std::vector<size_t> Ranked(const std::vector<V>& values) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!IsNan(values[i])) numbers.push_back(i);
  }
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](size_t a, size_t b) { return values[a] > values[b]; });
  std::vector<size_t> ranked(values.size());
  std::iota(ranked.begin(), ranked.end(), size_t{0});
  auto next = numbers.begin();
  for (size_t& place : ranked) {
    if (!IsNan(values[place])) place = *next++;
  }
  return ranked;
}

template <typename T>
std::vector<std::string> ClassifyAs(std::span<const std::byte> bytes,
                                    const Classes& classes) {
  std::vector<std::string> out;
  const auto rows = static_cast<size_t>(classes.rows);
  const size_t count = bytes.size() / sizeof(T) / rows;
  std::vector<decltype(Value(T()))> values(count);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < count; ++i) {
      T element;
      std::memcpy(&element, bytes.data() + (row * count + i) * sizeof(T),
                  sizeof(T));
      values[i] = Value(element);
    }
    std::vector<size_t> ranked = Ranked(values);
    ranked.resize(std::min(count, static_cast<size_t>(classes.top_k)));
    for (const size_t i : ranked) {
      std::string& text =
          out.emplace_back(absl::StrCat(Text(values[i]), ":", i));
      if (classes.labels != nullptr && i < classes.labels->size() &&
          !(*classes.labels)[i].empty()) {
        absl::StrAppend(&text, ":", (*classes.labels)[i]);
      }
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> Classify(
    DType dtype, std::span<const std::byte> bytes, const Classes& classes) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUint8:
      return ClassifyAs<uint8_t>(bytes, classes);
    case DType::kUint16:
      return ClassifyAs<uint16_t>(bytes, classes);
    case DType::kUint32:
      return ClassifyAs<uint32_t>(bytes, classes);
    case DType::kUint64:
      return ClassifyAs<uint64_t>(bytes, classes);
    case DType::kInt8:
      return ClassifyAs<int8_t>(bytes, classes);
    case DType::kInt16:
      return ClassifyAs<int16_t>(bytes, classes);
    case DType::kInt32:
      return ClassifyAs<int32_t>(bytes, classes);
    case DType::kInt64:
      return ClassifyAs<int64_t>(bytes, classes);
    case DType::kFp16:
      return ClassifyAs<Half>(bytes, classes);
    case DType::kBf16:
      return ClassifyAs<BFloat16>(bytes, classes);
    case DType::kFp32:
      return ClassifyAs<float>(bytes, classes);
    case DType::kFp64:
      return ClassifyAs<double>(bytes, classes);
    case DType::kString:
      break;
  }
  return absl::InvalidArgumentError(
      "classification needs numbers, the output is BYTES");
}

}  // namespace reprise
