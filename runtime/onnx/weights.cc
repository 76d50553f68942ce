#include "runtime/onnx/weights.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/onnx/external_data.h"
#include "runtime/ops/onnx_dtype.h"

namespace reprise::onnx_import {
namespace {

absl::StatusOr<Dims> ReadDims(const onnx::TensorProto& proto, int max_rank) {
  if (proto.dims_size() > max_rank) {
    return absl::ResourceExhaustedError(
        absl::StrCat("has ", proto.dims_size(), " axes, more than ", max_rank));
  }
  const Dims dims(proto.dims().begin(), proto.dims().end());
  REPRISE_RETURN_IF_ERROR(NumElements(dims).status());
  return dims;
}

// How many elements the typed field that belongs to `dtype` holds.
int64_t TypedCount(const onnx::TensorProto& proto, DType dtype) {
  switch (dtype) {
    case DType::kFp32:
      return proto.float_data_size();
    case DType::kFp64:
      return proto.double_data_size();
    case DType::kInt64:
      return proto.int64_data_size();
    case DType::kUint32:
    case DType::kUint64:
      return proto.uint64_data_size();
    case DType::kString:
      return proto.string_data_size();
    default:
      return proto.int32_data_size();
  }
}

template <typename T, typename Field>
void CopyField(const Field& field, HostTensor& out) {
  std::transform(field.begin(), field.end(), out.values<T>().begin(),
                 [](auto value) { return static_cast<T>(value); });
}

void CopyTyped(const onnx::TensorProto& proto, HostTensor& out) {
  switch (out.dtype()) {
    case DType::kFp32:
      return CopyField<float>(proto.float_data(), out);
    case DType::kFp64:
      return CopyField<double>(proto.double_data(), out);
    case DType::kInt64:
      return CopyField<int64_t>(proto.int64_data(), out);
    case DType::kUint64:
      return CopyField<uint64_t>(proto.uint64_data(), out);
    case DType::kUint32:
      return CopyField<uint32_t>(proto.uint64_data(), out);
    case DType::kInt32:
      return CopyField<int32_t>(proto.int32_data(), out);
    case DType::kInt16:
      return CopyField<int16_t>(proto.int32_data(), out);
    case DType::kInt8:
      return CopyField<int8_t>(proto.int32_data(), out);
    case DType::kUint16:
    case DType::kFp16:  // bit patterns
    case DType::kBf16:
      return CopyField<uint16_t>(proto.int32_data(), out);
    case DType::kUint8:
      return CopyField<uint8_t>(proto.int32_data(), out);
    case DType::kBool:
      std::transform(proto.int32_data().begin(), proto.int32_data().end(),
                     out.values<uint8_t>().begin(),
                     [](int32_t v) { return v != 0 ? 1 : 0; });
      return;
    case DType::kString:
      return;
  }
}

// Bytes from outside may hold anything; a BOOL is 0 or 1.
void NormalizeBools(HostTensor& tensor) {
  if (tensor.dtype() != DType::kBool) return;
  for (uint8_t& value : tensor.values<uint8_t>()) value = value != 0 ? 1 : 0;
}

absl::Status SetEntry(const std::string& key, const std::string& value,
                      ExternalLocation& location) {
  if (key == "location") {
    location.path = value;
  } else if (key == "offset" || key == "length") {
    int64_t number = 0;
    if (!absl::SimpleAtoi(value, &number) || number < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("external data has the ", key, " '", value, "'"));
    }
    (key == "offset" ? location.offset : location.length) = number;
  } else if (key != "checksum") {
    return absl::InvalidArgumentError(
        absl::StrCat("external data has the unknown key '", key, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ExternalLocation> ReadLocation(const onnx::TensorProto& proto) {
  ExternalLocation location;
  std::vector<std::string> seen;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (std::find(seen.begin(), seen.end(), entry.key()) != seen.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("external data has the key '", entry.key(), "' twice"));
    }
    seen.push_back(entry.key());
    REPRISE_RETURN_IF_ERROR(SetEntry(entry.key(), entry.value(), location));
  }
  return location;
}

absl::StatusOr<HostTensor> ReadExternalTensor(const std::string& folder,
                                              const onnx::TensorProto& proto,
                                              DType dtype, Dims dims) {
  if (folder.empty()) {
    return absl::InvalidArgumentError(
        "has external data, but the model was not read from a file");
  }
  if (dtype == DType::kString) {
    return absl::InvalidArgumentError("STRING cannot be external data");
  }
  REPRISE_ASSIGN_OR_RETURN(const ExternalLocation location,
                           ReadLocation(proto));
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes, NumBytes(dtype, dims));
  REPRISE_ASSIGN_OR_RETURN(const int64_t size,
                           ExternalFileSize(folder, location));
  if (bytes > size) {  // before memory is taken for them
    return absl::InvalidArgumentError(
        absl::StrCat("external data '", location.path, "' has ", size,
                     " bytes, not ", bytes));
  }
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                           HostTensor::Create(dtype, std::move(dims)));
  REPRISE_RETURN_IF_ERROR(ReadExternal(folder, location, tensor.bytes()));
  NormalizeBools(tensor);
  return tensor;
}

}  // namespace

absl::StatusOr<HostTensor> WeightReader::Read(const onnx::TensorProto& proto) {
  if (proto.data_type() == onnx::TensorProto::UNDEFINED) {
    return absl::InvalidArgumentError("has no datatype");
  }
  REPRISE_ASSIGN_OR_RETURN(const DType dtype,
                           ops::DTypeFromOnnx(proto.data_type()));
  REPRISE_ASSIGN_OR_RETURN(Dims dims, ReadDims(proto, max_rank_));
  if (proto.has_segment()) {
    return absl::UnimplementedError("is a segment of a larger tensor");
  }
  REPRISE_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dims));
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes, NumBytes(dtype, dims));
  if (bytes > max_bytes_ - bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "has ", bytes, " bytes; constants may have ", max_bytes_, " together"));
  }
  bytes_ += bytes;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return ReadExternalTensor(folder_, proto, dtype, std::move(dims));
  }
  const int64_t typed = TypedCount(proto, dtype);
  const bool raw = proto.has_raw_data() && (typed == 0 || elements == 0);
  if (proto.has_raw_data() && !proto.raw_data().empty() && typed > 0) {
    return absl::InvalidArgumentError("has its data twice, raw and typed");
  }
  if (raw && dtype == DType::kString) {
    return absl::InvalidArgumentError("STRING cannot be raw data");
  }
  const int64_t have =
      raw ? static_cast<int64_t>(proto.raw_data().size()) : typed;
  if (have != (raw ? bytes : elements)) {
    return absl::InvalidArgumentError(
        absl::StrCat("is ", DTypeName(dtype), " ", DimsText(dims), " but has ",
                     have, raw ? " bytes" : " elements"));
  }
  if (dtype == DType::kString) {
    return HostTensor::FromStrings(
        std::move(dims),
        {proto.string_data().begin(), proto.string_data().end()});
  }
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                           HostTensor::Create(dtype, std::move(dims)));
  if (raw && bytes > 0) {
    std::memcpy(tensor.bytes().data(), proto.raw_data().data(),
                proto.raw_data().size());
    NormalizeBools(tensor);
  } else if (!raw) {
    CopyTyped(proto, tensor);
  }
  return tensor;
}

}  // namespace reprise::onnx_import
