#include "runtime/model/warmup.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/model/config_types.h"
#include "runtime/tensor/float16.h"

namespace reprise {
namespace {

using Sample = inference::ModelWarmup;

absl::Status Fault(absl::string_view text) {
  return absl::InvalidArgumentError(text);
}

// Random bytes are no random values: floats lie between 0 and 1, integers are
// small, so that an index stays inside its table.
void FillRandom(HostTensor& tensor, std::mt19937& random) {
  std::uniform_real_distribution<float> unit(0.0F, 1.0F);
  switch (tensor.dtype()) {
    case DType::kFp32:
      for (float& value : tensor.values<float>()) value = unit(random);
      return;
    case DType::kFp64:
      for (double& value : tensor.values<double>()) value = unit(random);
      return;
    case DType::kFp16:
      for (Half& value : tensor.values<Half>()) value = unit(random);
      return;
    case DType::kBf16:
      for (BFloat16& value : tensor.values<BFloat16>()) value = unit(random);
      return;
    default: {  // little-endian integers of one low bit
      const size_t size = ElementSize(tensor.dtype());
      for (size_t at = 0; at < tensor.bytes().size(); at += size) {
        tensor.bytes()[at] = static_cast<std::byte>(random() & 1U);
      }
    }
  }
}

// Elements of a STRING input in wire form: length prefixes and text.
absl::StatusOr<std::vector<std::string>> SplitStrings(
    const std::string& content, int64_t elements) {
  std::vector<std::string> strings;
  size_t at = 0;
  while (at < content.size()) {
    uint32_t length = 0;
    if (content.size() - at < sizeof(length)) return Fault("a length is cut");
    std::memcpy(&length, content.data() + at, sizeof(length));
    at += sizeof(length);
    if (content.size() - at < length) return Fault("an element is cut");
    strings.push_back(content.substr(at, length));
    at += length;
  }
  if (static_cast<int64_t>(strings.size()) != elements) {
    return Fault(
        absl::StrCat("has ", strings.size(), " elements, not ", elements));
  }
  return strings;
}

absl::StatusOr<HostTensor> FromFile(const std::string& content, DType dtype,
                                    const Dims& dims) {
  if (dtype == DType::kString) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dims));
    REPRISE_ASSIGN_OR_RETURN(auto strings, SplitStrings(content, elements));
    return HostTensor::FromStrings(dims, std::move(strings));
  }
  REPRISE_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Create(dtype, dims));
  if (content.size() != tensor.bytes().size()) {
    return Fault(absl::StrCat("has ", content.size(), " bytes, not ",
                              tensor.bytes().size()));
  }
  if (!content.empty()) {
    std::memcpy(tensor.bytes().data(), content.data(), content.size());
  }
  return tensor;
}

// Dims of one warm-up input held against the model's; binds free symbols.
absl::Status BindDims(const Sample::Input& input, const TensorSpec& spec,
                      std::map<std::string, int64_t>& bound) {
  const std::string given =
      absl::StrCat("[", absl::StrJoin(input.dims(), ","), "]");
  absl::Status mismatch = Fault(absl::StrCat(
      "dims ", given, " do not fit the model's ", DimsText(spec.dims)));
  if (static_cast<size_t>(input.dims_size()) != spec.dims.size()) {
    return mismatch;
  }
  for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
    const int64_t dim = input.dims(static_cast<int>(axis));
    if (dim < 1) return mismatch;
    if (spec.dims[axis] != kFreeDim) {
      if (dim != spec.dims[axis]) return mismatch;
      continue;
    }
    const auto [it, added] = bound.emplace(spec.symbols[axis], dim);
    if (!added && it->second != dim) {
      return Fault(absl::StrCat("dim '", it->first, "' is ", dim, " here and ",
                                it->second, " in another input"));
    }
  }
  return absl::OkStatus();
}

class SampleReader {
 public:
  SampleReader(const Signature& signature, const ModelSource& source)
      : signature_(signature), source_(source) {}

  absl::StatusOr<WarmupRequest> Read(const Sample& sample) {
    WarmupRequest request;
    request.name = sample.name();
    request.count = static_cast<int>(std::clamp(sample.count(), 1U, 10'000U));
    if (signature_.batched) {
      const uint32_t rows = std::max(sample.batch_size(), 1U);
      if (rows > static_cast<uint32_t>(signature_.max_batch)) {
        return Fault(absl::StrCat("batch_size ", rows,
                                  " is above max_batch_size ",
                                  signature_.max_batch));
      }
      request.rows = static_cast<int>(rows);
    }
    std::map<std::string, int64_t> bound;
    for (const TensorSpec& spec : signature_.inputs) {
      const auto it = sample.inputs().find(spec.name);
      if (it == sample.inputs().end()) {
        return Fault(absl::StrCat("input '", spec.name, "' is missing"));
      }
      auto tensor = ReadInput(it->second, spec, request.rows, bound);
      if (!tensor.ok()) {
        return Annotate(tensor.status(),
                        absl::StrCat("input '", spec.name, "'"));
      }
      request.inputs.push_back(*std::move(tensor));
    }
    if (sample.inputs_size() != static_cast<int>(signature_.inputs.size())) {
      return Fault("it names an input that the model does not have");
    }
    for (const std::string& symbol : signature_.free_symbols) {
      request.variant.push_back(bound.at(symbol));
    }
    return request;
  }

 private:
  absl::StatusOr<HostTensor> ReadInput(const Sample::Input& input,
                                       const TensorSpec& spec, int rows,
                                       std::map<std::string, int64_t>& bound) {
    if (FromConfigType(input.data_type()) != spec.dtype) {
      return Fault(
          absl::StrCat("data_type is not the model's ", DTypeName(spec.dtype)));
    }
    REPRISE_RETURN_IF_ERROR(BindDims(input, spec, bound));
    Dims dims(input.dims().begin(), input.dims().end());
    if (signature_.batched) dims.insert(dims.begin(), 1);
    REPRISE_ASSIGN_OR_RETURN(const int64_t row_bytes,
                             NumBytes(spec.dtype, dims));
    if (row_bytes > bytes_left_ / rows) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "warm-up inputs need more than ", kMaxWarmupBytes, " bytes"));
    }
    bytes_left_ -= row_bytes * rows;
    if (signature_.batched) dims[0] = rows;
    if (input.input_data_type_case() == Sample::Input::kInputDataFile) {
      return ReadFile(input.input_data_file(), spec.dtype, dims);
    }
    if (spec.dtype == DType::kString) {
      REPRISE_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dims));
      const std::string text = input.random_data() ? "warm-up" : "";
      return HostTensor::FromStrings(
          dims, std::vector<std::string>(static_cast<size_t>(elements), text));
    }
    REPRISE_ASSIGN_OR_RETURN(HostTensor tensor,
                             HostTensor::Create(spec.dtype, dims));
    if (input.random_data()) FillRandom(tensor, random_);
    return tensor;
  }

  absl::StatusOr<HostTensor> ReadFile(const std::string& file, DType dtype,
                                      const Dims& dims) {
    REPRISE_ASSIGN_OR_RETURN(
        const std::string content,
        source_.Read(absl::StrCat("warmup/", file), kMaxWarmupBytes));
    auto tensor = FromFile(content, dtype, dims);
    if (!tensor.ok()) {
      return Annotate(tensor.status(), absl::StrCat("file warmup/", file));
    }
    return tensor;
  }

  const Signature& signature_;
  const ModelSource& source_;
  int64_t bytes_left_ = kMaxWarmupBytes;
  std::mt19937 random_;  // the default seed: the same values at every load
};

}  // namespace

absl::StatusOr<std::vector<WarmupRequest>> MakeWarmup(
    const inference::ModelConfig& config, const Signature& signature,
    const ModelSource& source) {
  std::vector<WarmupRequest> requests;
  SampleReader reader(signature, source);
  for (const Sample& sample : config.model_warmup()) {
    auto request = reader.Read(sample);
    if (!request.ok()) {
      return Annotate(request.status(),
                      absl::StrCat("model_warmup '", sample.name(), "'"));
    }
    requests.push_back(*std::move(request));
  }
  return requests;
}

}  // namespace reprise
