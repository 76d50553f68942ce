#include "server/grpc/decode.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/signature.h"
#include "server/grpc/bytes_tensor.h"
#include "server/grpc/parameters.h"
#include "server/grpc/shown.h"

namespace reprise {
namespace {

int IndexOf(const std::vector<TensorSpec>& specs, absl::string_view name) {
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string NamesOf(const std::vector<TensorSpec>& specs) {
  return absl::StrJoin(specs, ", ", [](std::string* out, const TensorSpec& s) {
    absl::StrAppend(out, "'", s.name, "'");
  });
}

class Decoder {
 public:
  Decoder(const InferRequest& request, const ModelVersion& model,
          DecodedRequest& decoded, InferTask& task)
      : request_(request),
        model_(model),
        signature_(model.signature()),
        decoded_(decoded),
        task_(task) {}

  absl::Status Decode() {
    REPRISE_RETURN_IF_ERROR(TakeParameters());
    REPRISE_RETURN_IF_ERROR(MatchInputs());
    REPRISE_RETURN_IF_ERROR(TakeShapes());
    REPRISE_RETURN_IF_ERROR(TakeOutputs());
    return TakeData();
  }

 private:
  using Input = InferRequest::Input;

  absl::Status Invalid(absl::string_view message) const {
    return absl::InvalidArgumentError(
        absl::StrCat(message, " for model '", model_.name(), "'"));
  }

  absl::Status OfInput(const absl::Status& status, const Input& input) const {
    if (status.ok()) return status;
    return Annotate(status, absl::StrCat("model '", model_.name(), "', input ",
                                         Shown(input.name)));
  }

  // Signature order -> the request's input.
  const Input& Sent(size_t k) const { return request_.inputs[sent_[k]]; }

  absl::Status TakeParameters() {
    const absl::StatusOr<RequestParameters> parameters =
        ReadRequestParameters(request_.parameters);
    if (!parameters.ok()) {
      return Annotate(parameters.status(),
                      absl::StrCat("model '", model_.name(), "'"));
    }
    task_.priority = parameters->priority;
    task_.timeout_us = parameters->timeout_us;
    if (parameters->timeout_us > 0) {
      task_.queue_limit =
          task_.arrival + absl::Microseconds(parameters->timeout_us);
    }
    const std::optional<absl::Duration> slo = model_.config().batch.slo;
    if (slo.has_value()) {
      task_.deadline = std::min(task_.deadline, task_.arrival + *slo);
    }
    return absl::OkStatus();
  }

  absl::Status MatchInputs() {
    const size_t count = signature_.inputs.size();
    constexpr size_t kMissing = SIZE_MAX;
    sent_.assign(count, kMissing);
    for (size_t i = 0; i < request_.inputs.size(); ++i) {
      const Input& input = request_.inputs[i];
      const int k = IndexOf(signature_.inputs, input.name);
      if (k < 0) {
        return Invalid(absl::StrCat("unexpected input ", Shown(input.name),
                                    ", expected ", NamesOf(signature_.inputs),
                                    ","));
      }
      size_t& sent = sent_[static_cast<size_t>(k)];
      if (sent != kMissing) {
        return Invalid(absl::StrCat("input ", Shown(input.name),
                                    " already exists in request"));
      }
      sent = i;
      REPRISE_RETURN_IF_ERROR(
          OfInput(CheckNoSharedMemory(input.parameters), input));
    }
    if (request_.inputs.size() == count) return absl::OkStatus();
    std::vector<std::string> missing;
    for (size_t k = 0; k < count; ++k) {
      if (sent_[k] == kMissing) missing.push_back(signature_.inputs[k].name);
    }
    return Invalid(absl::StrCat("expected ", count, " inputs, got ",
                                request_.inputs.size(), ", missing '",
                                absl::StrJoin(missing, "', '"), "'"));
  }

  absl::Status TakeShapes() {
    task_.rows = 1;
    task_.variant.assign(signature_.free_symbols.size(), kFreeDim);
    for (size_t k = 0; k < sent_.size(); ++k) {
      const TensorSpec& spec = signature_.inputs[k];
      const Input& input = Sent(k);
      if (input.datatype != DTypeName(spec.dtype)) {
        return Invalid(absl::StrCat(
            "unexpected datatype ", Shown(input.datatype), ", expected ",
            DTypeName(spec.dtype), ", of input '", spec.name, "'"));
      }
      REPRISE_RETURN_IF_ERROR(CheckShape(spec, input.shape));
      REPRISE_RETURN_IF_ERROR(TakeRows(k, input.shape));
      REPRISE_RETURN_IF_ERROR(TakeFreeDims(spec, input.shape));
    }
    return absl::OkStatus();
  }

  absl::Status CheckShape(const TensorSpec& spec, const Dims& shape) const {
    for (const int64_t dim : shape) {
      if (dim >= 0) continue;
      return Invalid(absl::StrCat("every dimension must be given, got shape ",
                                  DimsText(shape), " of input '", spec.name,
                                  "'"));
    }
    const size_t batch = signature_.batched ? 1 : 0;
    bool fits = shape.size() == spec.dims.size() + batch;
    for (size_t i = 0; fits && i < spec.dims.size(); ++i) {
      fits = spec.dims[i] == kFreeDim || spec.dims[i] == shape[i + batch];
    }
    if (fits) return absl::OkStatus();
    Dims expected = spec.dims;
    if (signature_.batched) expected.insert(expected.begin(), kFreeDim);
    return Invalid(absl::StrCat("unexpected shape of input '", spec.name,
                                "', expected ", DimsText(expected), ", got ",
                                DimsText(shape), ","));
  }

  absl::Status TakeRows(size_t k, const Dims& shape) {
    if (!signature_.batched) return absl::OkStatus();
    const std::string& name = signature_.inputs[k].name;
    const int64_t rows = shape[0];
    if (rows == 0) {
      return Invalid(absl::StrCat("batch 0 of input '", name,
                                  "': a request has one row or more,"));
    }
    if (rows > signature_.max_batch) {
      return Invalid(
          absl::StrCat("batch-size must be <= ", signature_.max_batch, ", got ",
                       rows, " of input '", name, "'"));
    }
    if (k > 0 && rows != task_.rows) {
      return Invalid(absl::StrCat("unequal batch-size: ", task_.rows,
                                  " of input '", signature_.inputs[0].name,
                                  "', ", rows, " of input '", name, "'"));
    }
    task_.rows = static_cast<int>(rows);
    return absl::OkStatus();
  }

  absl::Status TakeFreeDims(const TensorSpec& spec, const Dims& shape) {
    const size_t batch = signature_.batched ? 1 : 0;
    for (size_t i = 0; i < spec.dims.size(); ++i) {
      if (spec.dims[i] != kFreeDim) continue;
      const std::string& symbol = spec.symbols[i];
      const auto& symbols = signature_.free_symbols;
      const auto it = std::find(symbols.begin(), symbols.end(), symbol);
      if (it == symbols.end()) continue;  // a dim that no variant depends on
      const int64_t dim = shape[i + batch];
      int64_t& bound = task_.variant[static_cast<size_t>(it - symbols.begin())];
      if (bound != kFreeDim && bound != dim) {
        return Invalid(absl::StrCat(
            "unexpected shape of input '", spec.name, "', expected ", symbol,
            " = ", bound, " as in another input, got ", DimsText(shape), ","));
      }
      const auto range = model_.config().dims.find(symbol);
      if (range != model_.config().dims.end() &&
          (dim < range->second.low || dim > range->second.high)) {
        return Invalid(absl::StrCat("unexpected shape of input '", spec.name,
                                    "', expected ", symbol, " in ",
                                    range->second.low, "..", range->second.high,
                                    ", got ", DimsText(shape), ","));
      }
      bound = dim;
    }
    return absl::OkStatus();
  }

  // What `classification` asks for; 0: the tensor itself.
  static absl::StatusOr<int64_t> ReadOutputParameters(
      const TensorSpec& spec, const InferRequest::Output& output) {
    REPRISE_RETURN_IF_ERROR(CheckNoSharedMemory(output.parameters));
    REPRISE_ASSIGN_OR_RETURN(const int64_t top_k,
                             ReadClassification(output.parameters));
    if (top_k > 0 && spec.dtype == DType::kString) {
      return absl::InvalidArgumentError(
          "classification needs numbers, the output is BYTES");
    }
    return top_k;
  }

  // An output may be asked for again if it is in the same way.
  absl::Status TakeOutputs() {
    const size_t count = signature_.outputs.size();
    absl::InlinedVector<int64_t, 8> wanted(count,
                                           request_.outputs.empty() ? 0 : -1);
    for (const InferRequest::Output& output : request_.outputs) {
      const int k = IndexOf(signature_.outputs, output.name);
      if (k < 0) {
        return Invalid(absl::StrCat("unexpected output ", Shown(output.name),
                                    ", expected ", NamesOf(signature_.outputs),
                                    ","));
      }
      const TensorSpec& spec = signature_.outputs[static_cast<size_t>(k)];
      absl::StatusOr<int64_t> top_k = ReadOutputParameters(spec, output);
      if (!top_k.ok()) {
        return Annotate(top_k.status(),
                        absl::StrCat("model '", model_.name(), "', output '",
                                     output.name, "'"));
      }
      int64_t& asked = wanted[static_cast<size_t>(k)];
      if (asked >= 0 && asked != *top_k) {
        return Invalid(absl::StrCat("output ", Shown(output.name),
                                    " already exists in request with other "
                                    "parameters"));
      }
      asked = *top_k;
    }
    for (size_t k = 0; k < count; ++k) {
      if (wanted[k] >= 0) {
        decoded_.outputs.push_back({static_cast<int>(k), wanted[k]});
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeData() {
    const size_t count = sent_.size();
    task_.inputs.resize(count);
    decoded_.typed.reserve(count);
    REPRISE_RETURN_IF_ERROR(CheckForm());
    task_.bytes = 0;
    for (size_t k = 0; k < count; ++k) {
      const Input& input = Sent(k);
      REPRISE_RETURN_IF_ERROR(
          OfInput(request_.raw.empty() ? TakeTyped(k) : TakeRaw(k), input));
      task_.bytes += task_.inputs[k].bytes;
    }
    return absl::OkStatus();
  }

  // All raw, with one entry for each input, or all typed.
  absl::Status CheckForm() const {
    if (request_.raw.empty()) return absl::OkStatus();
    for (const Input& input : request_.inputs) {
      if (input.contents.empty()) continue;
      return Invalid(absl::StrCat("contents of input ", Shown(input.name),
                                  " not allowed together with "
                                  "raw_input_contents"));
    }
    if (request_.raw.size() < request_.inputs.size()) {
      return Invalid(
          absl::StrCat("no data found for the tensor ",
                       Shown(request_.inputs[request_.raw.size()].name),
                       ": expected ", request_.inputs.size(),
                       " raw_input_contents, got ", request_.raw.size()));
    }
    if (request_.raw.size() > request_.inputs.size()) {
      return Invalid(absl::StrCat("expected ", request_.inputs.size(),
                                  " raw_input_contents, one for each input, "
                                  "got ",
                                  request_.raw.size()));
    }
    return absl::OkStatus();
  }

  absl::Status TakeRaw(size_t k) {
    const TensorSpec& spec = signature_.inputs[k];
    const InputRows& raw = request_.raw[sent_[k]];
    if (spec.dtype == DType::kString) {
      REPRISE_ASSIGN_OR_RETURN(const int64_t count, NumElements(Sent(k).shape));
      TypedElements& elements = decoded_.typed.emplace_back();
      REPRISE_RETURN_IF_ERROR(
          SplitBytes(raw, count, decoded_.text, elements.strings));
      Point(k, elements);
      return absl::OkStatus();
    }
    REPRISE_ASSIGN_OR_RETURN(const int64_t expected,
                             NumBytes(spec.dtype, Sent(k).shape));
    if (raw.bytes != expected) {
      return absl::InvalidArgumentError(
          absl::StrCat("byte size mismatch, expected ", expected, " bytes for ",
                       DTypeName(spec.dtype), " of shape ",
                       DimsText(Sent(k).shape), ", got ", raw.bytes));
    }
    task_.inputs[k] = raw;
    return absl::OkStatus();
  }

  absl::Status TakeTyped(size_t k) {
    const TensorSpec& spec = signature_.inputs[k];
    REPRISE_ASSIGN_OR_RETURN(const int64_t count, NumElements(Sent(k).shape));
    TypedElements& elements = decoded_.typed.emplace_back();
    REPRISE_RETURN_IF_ERROR(ReadTypedContents(
        {request_, Sent(k), spec.dtype, count}, decoded_.text, elements));
    Point(k, elements);
    return absl::OkStatus();
  }

  // `elements` stays where it is: room for all inputs was reserved.
  void Point(size_t k, const TypedElements& elements) {
    const std::span<const std::byte> bytes =
        signature_.inputs[k].dtype == DType::kString
            ? std::as_bytes(std::span(elements.strings))
            : std::span<const std::byte>(elements.bytes);
    task_.inputs[k].pieces.assign(1, bytes);
    task_.inputs[k].bytes = static_cast<int64_t>(bytes.size());
  }

  const InferRequest& request_;
  const ModelVersion& model_;
  const Signature& signature_;
  DecodedRequest& decoded_;
  InferTask& task_;
  absl::InlinedVector<size_t, 4> sent_;  // by input of the signature
};

}  // namespace

absl::Status DecodeRequest(const InferRequest& request,
                           const ModelVersion& model, DecodedRequest& decoded,
                           InferTask& task) {
  return Decoder(request, model, decoded, task).Decode();
}

}  // namespace reprise
