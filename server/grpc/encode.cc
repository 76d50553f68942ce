#include "server/grpc/encode.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/support/slice.h"
#include "proto/grpc_service.pb.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/dtype.h"
#include "server/grpc/bytes_tensor.h"
#include "server/grpc/classification.h"

namespace reprise {
namespace {

// Below this a copy is cheaper than a slice of its own.
constexpr size_t kCopyUpTo = 1024;

using Response = inference::ModelInferResponse;
using OutputField = Response::InferOutputTensor;

// Tags of the protocol's fields, all of them length-delimited.
constexpr uint8_t Tag(int field) {
  return static_cast<uint8_t>(field << 3 | 2);
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

// Appends wire format to a small buffer.
class Writer {
 public:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_.push_back(static_cast<char>(value | 0x80));
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void Length(int field, size_t length) {
    bytes_.push_back(static_cast<char>(Tag(field)));
    Varint(length);
  }
  void Text(int field, absl::string_view text) {
    if (text.empty()) return;
    Length(field, text.size());
    Append(text.data(), text.size());
  }
  void Append(const void* data, size_t size) {
    const auto* p = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), p, p + size);
  }
  // Room for `size` more bytes, to be written at once.
  char* Extend(size_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + bytes_.size() - size;
  }

  size_t size() const { return bytes_.size(); }
  grpc::Slice Take() {
    grpc::Slice slice(bytes_.data(), bytes_.size());
    bytes_.clear();
    return slice;
  }

 private:
  absl::InlinedVector<char, 512> bytes_;
};

size_t TextSize(absl::string_view text) {
  return text.empty() ? 0 : 1 + VarintSize(text.size()) + text.size();
}

// One output as it goes out.
struct Tensor {
  absl::string_view name;
  absl::string_view datatype;
  Dims shape;
  std::span<const std::byte> bytes;    // of a number tensor
  std::span<const StringRef> strings;  // of a BYTES tensor
  std::vector<std::string> classes;    // of a classification
  std::vector<StringRef> class_refs;
  size_t raw_size = 0;
};

size_t ShapeSize(const Dims& shape) {
  size_t size = 0;
  for (const int64_t dim : shape)
    size += VarintSize(static_cast<uint64_t>(dim));
  return size;
}

size_t HeaderSize(const Tensor& tensor) {
  const size_t dims = ShapeSize(tensor.shape);
  return TextSize(tensor.name) + TextSize(tensor.datatype) +
         (dims == 0 ? 0 : 1 + VarintSize(dims) + dims);
}

void WriteHeader(const Tensor& tensor, Writer& writer) {
  writer.Length(Response::kOutputsFieldNumber, HeaderSize(tensor));
  writer.Text(OutputField::kNameFieldNumber, tensor.name);
  writer.Text(OutputField::kDatatypeFieldNumber, tensor.datatype);
  if (tensor.shape.empty()) return;
  writer.Length(OutputField::kShapeFieldNumber, ShapeSize(tensor.shape));
  for (const int64_t dim : tensor.shape) {
    writer.Varint(static_cast<uint64_t>(dim));
  }
}

absl::Status MakeTensor(const ReplyHeader& header, const BatchOutput& output,
                        const DecodedRequest::Output& wanted, Tensor& tensor) {
  const Signature& signature = output.signature();
  const TensorSpec& spec = signature.outputs[static_cast<size_t>(wanted.index)];
  tensor.name = spec.name;
  tensor.datatype = DTypeName(spec.dtype);
  tensor.shape = spec.dims;
  if (signature.batched) {
    tensor.shape.insert(tensor.shape.begin(), output.rows());
  }
  const std::span<const std::byte> bytes = output.bytes(wanted.index);
  if (wanted.top_k > 0) {
    const auto labels = header.model.config().labels.find(spec.name);
    const bool labelled = labels != header.model.config().labels.end();
    const Classes classes{signature.batched ? output.rows() : 1, wanted.top_k,
                          labelled ? &labels->second : nullptr};
    REPRISE_ASSIGN_OR_RETURN(tensor.classes,
                             Classify(spec.dtype, bytes, classes));
    const auto per_row =
        static_cast<int64_t>(tensor.classes.size()) / classes.rows;
    tensor.datatype = DTypeName(DType::kString);
    tensor.shape =
        signature.batched ? Dims{output.rows(), per_row} : Dims{per_row};
    for (const std::string& text : tensor.classes) {
      tensor.class_refs.push_back({text.data(), text.size()});
    }
    tensor.strings = tensor.class_refs;
  } else if (spec.dtype == DType::kString) {
    tensor.strings = AsStrings(bytes);
  } else {
    tensor.bytes = bytes;
  }
  tensor.raw_size = tensor.bytes.size() + RawBytesSize(tensor.strings);
  return absl::OkStatus();
}

// The bytes of an output as a slice that keeps the slot.
grpc::Slice Reference(const BatchOutput& output,
                      std::span<const std::byte> bytes) {
  auto* const share = new BatchOutput(output.Share());
  // gRPC never writes to a slice that it sends.
  auto* const data = const_cast<std::byte*>(bytes.data());
  return {data, bytes.size(),
          [](void* held) { delete static_cast<BatchOutput*>(held); }, share};
}

grpc::Slice Copy(const Tensor& tensor) {
  if (tensor.strings.empty()) {
    return {tensor.bytes.data(), tensor.bytes.size()};
  }
  grpc_slice slice = grpc_slice_malloc(tensor.raw_size);
  WriteRawBytes(tensor.strings,
                reinterpret_cast<char*>(GRPC_SLICE_START_PTR(slice)));
  return {slice, grpc::Slice::STEAL_REF};
}

size_t MessageSize(const ReplyHeader& header, std::span<const Tensor> tensors) {
  size_t size = TextSize(header.model.name()) +
                TextSize(header.model.version_text()) + TextSize(header.id);
  for (const Tensor& tensor : tensors) {
    const size_t small = HeaderSize(tensor);
    size += 2 + VarintSize(small) + small + VarintSize(tensor.raw_size) +
            tensor.raw_size;
  }
  return size;
}

}  // namespace

absl::StatusOr<grpc::ByteBuffer> EncodeReply(const ReplyHeader& header,
                                             const BatchOutput& output) {
  absl::InlinedVector<Tensor, 2> tensors(header.outputs.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    REPRISE_RETURN_IF_ERROR(
        MakeTensor(header, output, header.outputs[i], tensors[i]));
  }
  const size_t size = MessageSize(header, tensors);
  if (size > header.max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the reply of model '", header.model.name(), "' has ",
                     size, " bytes, which exceeds the size limit of ",
                     header.max_bytes, " bytes (--grpc-max-message-bytes)"));
  }
  Writer writer;
  writer.Text(Response::kModelNameFieldNumber, header.model.name());
  writer.Text(Response::kModelVersionFieldNumber, header.model.version_text());
  writer.Text(Response::kIdFieldNumber, header.id);
  for (const Tensor& tensor : tensors) WriteHeader(tensor, writer);
  absl::InlinedVector<grpc::Slice, 4> slices;
  for (const Tensor& tensor : tensors) {
    writer.Length(Response::kRawOutputContentsFieldNumber, tensor.raw_size);
    if (tensor.raw_size > kCopyUpTo) {
      slices.push_back(writer.Take());
      const bool refer = tensor.strings.empty() && output.may_hold_slot();
      slices.push_back(refer ? Reference(output, tensor.bytes) : Copy(tensor));
    } else if (!tensor.strings.empty()) {
      WriteRawBytes(tensor.strings, writer.Extend(tensor.raw_size));
    } else {
      writer.Append(tensor.bytes.data(), tensor.bytes.size());
    }
  }
  if (writer.size() > 0) slices.push_back(writer.Take());
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace reprise
