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

// Writes wire format into memory of a known size, and gives it away in parts.
class Writer {
 public:
  explicit Writer(size_t size)
      : memory_(grpc_slice_malloc(size)),
        bytes_(GRPC_SLICE_START_PTR(memory_)) {}
  ~Writer() { grpc_slice_unref(memory_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_[end_++] = static_cast<uint8_t>(value | 0x80);
    }
    bytes_[end_++] = static_cast<uint8_t>(value);
  }
  void Length(int field, size_t length) {
    bytes_[end_++] = Tag(field);
    Varint(length);
  }
  void Text(int field, absl::string_view text) {
    if (text.empty()) return;
    Length(field, text.size());
    std::memcpy(Extend(text.size()), text.data(), text.size());
  }
  // `size` more bytes, to be written at once.
  char* Extend(size_t size) {
    end_ += size;
    return reinterpret_cast<char*>(bytes_ + end_ - size);
  }

  // What was written since the last Take.
  grpc::Slice Take() {
    const size_t begin = std::exchange(taken_, end_);
    return {grpc_slice_sub(memory_, begin, end_), grpc::Slice::STEAL_REF};
  }
  bool empty() const { return taken_ == end_; }

 private:
  grpc_slice memory_;
  uint8_t* const bytes_;
  size_t taken_ = 0;
  size_t end_ = 0;
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
  bool referred = false;  // its bytes are a slice of their own: the slot's
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
  tensor.referred = tensor.raw_size > kCopyUpTo && tensor.strings.empty() &&
                    output.may_hold_slot();
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

void WriteRaw(const Tensor& tensor, char* to) {
  if (!tensor.strings.empty()) {
    WriteRawBytes(tensor.strings, to);
  } else if (!tensor.bytes.empty()) {
    std::memcpy(to, tensor.bytes.data(), tensor.bytes.size());
  }
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

absl::Status EncodeReply(const ReplyHeader& header, const BatchOutput& output,
                         grpc::ByteBuffer& reply) {
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
  size_t written = size;
  for (const Tensor& tensor : tensors) {
    if (tensor.referred) written -= tensor.raw_size;
  }
  Writer writer(written);
  writer.Text(Response::kModelNameFieldNumber, header.model.name());
  writer.Text(Response::kModelVersionFieldNumber, header.model.version_text());
  writer.Text(Response::kIdFieldNumber, header.id);
  for (const Tensor& tensor : tensors) WriteHeader(tensor, writer);
  absl::InlinedVector<grpc::Slice, 4> slices;
  for (const Tensor& tensor : tensors) {
    writer.Length(Response::kRawOutputContentsFieldNumber, tensor.raw_size);
    if (tensor.referred) {
      slices.push_back(writer.Take());
      slices.push_back(Reference(output, tensor.bytes));
    } else {
      WriteRaw(tensor, writer.Extend(tensor.raw_size));
    }
  }
  if (!writer.empty()) slices.push_back(writer.Take());
  grpc::ByteBuffer made(slices.data(), slices.size());
  reply.Swap(&made);
  return absl::OkStatus();
}

}  // namespace reprise
