#include "client/tensor.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/status.h"

namespace reprise::client {
namespace {

struct Datatype {
  absl::string_view name;
  size_t size;
};

constexpr Datatype kDatatypes[] = {
    {"BOOL", 1}, {"UINT8", 1}, {"UINT16", 2}, {"UINT32", 4}, {"UINT64", 8},
    {"INT8", 1}, {"INT16", 2}, {"INT32", 4},  {"INT64", 8},  {"FP16", 2},
    {"FP32", 4}, {"FP64", 8},  {"BYTES", 0},  {"BF16", 2},
};

}  // namespace

absl::StatusOr<size_t> ElementSize(absl::string_view datatype) {
  for (const Datatype& entry : kDatatypes) {
    if (entry.name == datatype) return entry.size;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown datatype \"", datatype, "\""));
}

absl::StatusOr<int64_t> ElementCount(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", ShapeText(shape), " has no element count"));
    }
  }
  return count;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

absl::Status CheckTensor(const Tensor& tensor) {
  const std::string where = absl::StrCat("tensor \"", tensor.name, "\"");
  absl::StatusOr<size_t> size = ElementSize(tensor.datatype);
  if (!size.ok()) return Annotate(size.status(), where);
  absl::StatusOr<int64_t> count = ElementCount(tensor.shape);
  if (!count.ok()) return Annotate(count.status(), where);
  if (*size == 0) {
    absl::StatusOr<std::vector<std::string>> strings =
        DecodeStrings(tensor.bytes);
    if (!strings.ok()) return Annotate(strings.status(), where);
    if (static_cast<int64_t>(strings->size()) == *count) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": ", strings->size(), " strings, but shape ",
                     ShapeText(tensor.shape), " has ", *count, " elements"));
  }
  int64_t expected = 0;
  if (__builtin_mul_overflow(*count, static_cast<int64_t>(*size), &expected) ||
      static_cast<int64_t>(tensor.bytes.size()) != expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": ", tensor.bytes.size(), " bytes, but ", tensor.datatype, " ",
        ShapeText(tensor.shape), " takes ", *count, " x ", *size));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> DecodeStrings(
    absl::string_view bytes) {
  std::vector<std::string> elements;
  while (!bytes.empty()) {
    uint32_t length = 0;
    if (bytes.size() < sizeof(length)) {
      return absl::InvalidArgumentError("incomplete length of a string");
    }
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (bytes.size() < length) {
      return absl::InvalidArgumentError(absl::StrCat(
          "string of ", length, " bytes, but ", bytes.size(), " are left"));
    }
    elements.emplace_back(bytes.data(), length);
    bytes.remove_prefix(length);
  }
  return elements;
}

std::string EncodeStrings(const std::vector<std::string>& elements) {
  std::string bytes;
  for (const std::string& element : elements) {
    const uint32_t length = static_cast<uint32_t>(element.size());
    char prefix[sizeof(length)];
    std::memcpy(prefix, &length, sizeof(length));
    bytes.append(prefix, sizeof(length));
    bytes.append(element);
  }
  return bytes;
}

}  // namespace reprise::client
