#include "server/grpc/typed_contents.h"

#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/grpc_service.pb.h"
#include "server/grpc/wire_reader.h"

namespace reprise {
namespace {

using Contents = inference::InferTensorContents;

// Its fields by number; index 0 is none.
constexpr std::array<absl::string_view, 9> kFieldNames = {"",
                                                          "bool_contents",
                                                          "int_contents",
                                                          "int64_contents",
                                                          "uint_contents",
                                                          "uint64_contents",
                                                          "fp32_contents",
                                                          "fp64_contents",
                                                          "bytes_contents"};
constexpr uint32_t kFp32Field = Contents::kFp32ContentsFieldNumber;
constexpr uint32_t kFp64Field = Contents::kFp64ContentsFieldNumber;
constexpr uint32_t kBytesField = Contents::kBytesContentsFieldNumber;

// The field that holds elements of `dtype`; 0 if there is none.
uint32_t FieldOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return Contents::kBoolContentsFieldNumber;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
      return Contents::kIntContentsFieldNumber;
    case DType::kInt64:
      return Contents::kInt64ContentsFieldNumber;
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
      return Contents::kUintContentsFieldNumber;
    case DType::kUint64:
      return Contents::kUint64ContentsFieldNumber;
    case DType::kFp32:
      return kFp32Field;
    case DType::kFp64:
      return kFp64Field;
    case DType::kString:
      return kBytesField;
    case DType::kFp16:
    case DType::kBf16:
      return 0;
  }
  return 0;
}

class ContentsReader {
 public:
  ContentsReader(WireReader reader, DType dtype, int64_t count,
                 std::forward_list<std::string>& scratch,
                 TypedElements& elements)
      : reader_(reader),
        dtype_(dtype),
        field_(FieldOf(dtype)),
        size_(ElementSize(dtype)),
        count_(count),
        scratch_(scratch),
        elements_(elements) {}

  absl::Status Read() {
    while (!reader_.done()) {
      uint32_t field = 0;
      WireType type;
      if (!reader_.ReadTag(field, type)) return Malformed();
      if (field == 0 || field >= kFieldNames.size()) {
        if (!reader_.SkipValue(type)) return Malformed();
        continue;
      }
      absl::Status status = Values(field, type);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status Malformed() {
    return absl::InternalError("malformed contents");
  }

  absl::Status Values(uint32_t field, WireType type) {
    if (field == kBytesField && type == WireType::kLength) {
      if (field != field_) return Unexpected(field);
      absl::string_view text;
      if (!reader_.ReadText(scratch_, text)) return Malformed();
      elements_.strings.push_back({text.data(), text.size()});
      return Bounded(elements_.strings.size());
    }
    if (type != WireType::kLength) return Value(field, type);
    size_t length = 0;
    size_t outer = 0;
    if (!reader_.ReadLength(length) || !reader_.Enter(length, outer)) {
      return Malformed();
    }
    while (!reader_.done()) {
      absl::Status status = Value(field, ElementType(field));
      if (!status.ok()) return status;
    }
    reader_.Leave(outer);
    return absl::OkStatus();
  }

  static WireType ElementType(uint32_t field) {
    if (field == kFp32Field) return WireType::kFixed32;
    if (field == kFp64Field) return WireType::kFixed64;
    return WireType::kVarint;
  }

  // One element; its tag, if any, has been read.
  absl::Status Value(uint32_t field, WireType type) {
    if (field != field_) return Unexpected(field);
    if (type != ElementType(field)) return Malformed();
    uint64_t value = 0;
    uint32_t narrow = 0;
    bool ok = true;
    if (type == WireType::kVarint) {
      ok = reader_.ReadVarint(value);
      if (dtype_ == DType::kBool) value = value != 0 ? 1 : 0;
    } else if (type == WireType::kFixed32) {
      ok = reader_.ReadFixed32(narrow);
      value = narrow;
    } else {
      ok = reader_.ReadFixed64(value);
    }
    if (!ok) return Malformed();
    const size_t at = elements_.bytes.size();
    elements_.bytes.resize(at + size_);
    std::memcpy(elements_.bytes.data() + at, &value, size_);
    return Bounded(at / size_ + 1);
  }

  absl::Status Bounded(size_t so_far) const {
    if (static_cast<int64_t>(so_far) <= count_) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", count_, " elements in ", kFieldNames[field_],
                     ", got more"));
  }

  absl::Status Unexpected(uint32_t field) const {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected explicit tensor data in ", kFieldNames[field],
                     " for datatype ", DTypeName(dtype_), ", expected ",
                     field_ == 0 ? "raw_input_contents" : kFieldNames[field_]));
  }

  WireReader reader_;
  const DType dtype_;
  const uint32_t field_;
  const size_t size_;
  const int64_t count_;
  std::forward_list<std::string>& scratch_;
  TypedElements& elements_;
};

}  // namespace

absl::Status ReadTypedContents(const TypedInput& from,
                               std::forward_list<std::string>& scratch,
                               TypedElements& elements) {
  const DType dtype = from.dtype;
  const int64_t count = from.count;
  const WireReader message(from.request.message);
  size_t bytes = 0;
  for (const InferRequest::Region& region : from.input.contents) {
    bytes += region.length;
  }
  // An element takes a byte of the message at least.
  if (dtype != DType::kString && static_cast<size_t>(count) <= bytes) {
    elements.bytes.reserve(static_cast<size_t>(count) * ElementSize(dtype));
  }
  for (const InferRequest::Region& region : from.input.contents) {
    ContentsReader reader(message.At(region.position, region.length), dtype,
                          count, scratch, elements);
    absl::Status status = reader.Read();
    if (!status.ok()) return status;
  }
  const size_t found = dtype == DType::kString
                           ? elements.strings.size()
                           : elements.bytes.size() / ElementSize(dtype);
  if (found == 0 && count > 0) {
    return absl::InvalidArgumentError(
        FieldOf(dtype) == 0
            ? absl::StrCat("no data found for the tensor; ", DTypeName(dtype),
                           " can be sent in raw_input_contents only")
            : "no data found for the tensor");
  }
  if (static_cast<int64_t>(found) != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", count, " elements in ",
                     kFieldNames[FieldOf(dtype)], ", got ", found));
  }
  return absl::OkStatus();
}

}  // namespace reprise
