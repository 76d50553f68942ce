#include "server/grpc/infer_request.h"

#include "absl/strings/str_cat.h"
#include "proto/grpc_service.pb.h"
#include "runtime/base/utf8.h"

namespace reprise {
namespace {

using RequestField = inference::ModelInferRequest;
using InputField = RequestField::InferInputTensor;
using OutputField = RequestField::InferRequestedOutputTensor;
using ParameterField = inference::InferParameter;

// Of the entries of a map, whatever its types.
constexpr uint32_t kMapKey = 1;
constexpr uint32_t kMapValue = 2;

class Parser {
 public:
  Parser(std::span<const WireReader::Piece> pieces, InferRequest& request)
      : reader_(pieces), request_(request) {}

  bool Parse() {
    while (!reader_.done()) {
      uint32_t field = 0;
      WireType type;
      if (!reader_.ReadTag(field, type) || !Field(field, type)) return false;
    }
    return true;
  }

  size_t position() const { return reader_.position(); }

 private:
  bool Field(uint32_t field, WireType type) {
    if (type != WireType::kLength) return reader_.SkipValue(type);
    switch (field) {
      case RequestField::kModelNameFieldNumber:
        return Text(request_.model_name);
      case RequestField::kModelVersionFieldNumber:
        return Text(request_.model_version);
      case RequestField::kIdFieldNumber:
        return Text(request_.id);
      case RequestField::kParametersFieldNumber:
        return Parameter(request_.parameters);
      case RequestField::kInputsFieldNumber:
        return Message([this, &input = request_.inputs.emplace_back()](
                           uint32_t number, WireType wire) {
          return Input(number, wire, input);
        });
      case RequestField::kOutputsFieldNumber:
        return Message([this, &output = request_.outputs.emplace_back()](
                           uint32_t number, WireType wire) {
          return Output(number, wire, output);
        });
      case RequestField::kRawInputContentsFieldNumber:
        return reader_.ReadPieces(request_.raw.emplace_back());
      default:
        return reader_.SkipValue(type);
    }
  }

  bool Input(uint32_t field, WireType type, InferRequest::Input& input) {
    if (field == InputField::kShapeFieldNumber) {
      return Shape(type, input.shape);
    }
    if (type != WireType::kLength) return reader_.SkipValue(type);
    size_t length = 0;
    switch (field) {
      case InputField::kNameFieldNumber:
        return Text(input.name);
      case InputField::kDatatypeFieldNumber:
        return Text(input.datatype);
      case InputField::kParametersFieldNumber:
        return Parameter(input.parameters);
      case InputField::kContentsFieldNumber:
        if (!reader_.ReadLength(length)) return false;
        input.contents.push_back({reader_.position(), length});
        return reader_.Skip(length);
      default:
        return reader_.SkipValue(type);
    }
  }

  bool Output(uint32_t field, WireType type, InferRequest::Output& output) {
    if (type != WireType::kLength) return reader_.SkipValue(type);
    switch (field) {
      case OutputField::kNameFieldNumber:
        return Text(output.name);
      case OutputField::kParametersFieldNumber:
        return Parameter(output.parameters);
      default:
        return reader_.SkipValue(type);
    }
  }

  // Packed, as proto3 writes it, or one by one.
  bool Shape(WireType type, Dims& shape) {
    uint64_t dim = 0;
    if (type == WireType::kVarint) {
      if (!reader_.ReadVarint(dim)) return false;
      shape.push_back(static_cast<int64_t>(dim));
      return true;
    }
    if (type != WireType::kLength) return reader_.SkipValue(type);
    size_t length = 0;
    size_t outer = 0;
    if (!reader_.ReadLength(length) || !reader_.Enter(length, outer)) {
      return false;
    }
    while (!reader_.done()) {
      if (!reader_.ReadVarint(dim)) return false;
      shape.push_back(static_cast<int64_t>(dim));
    }
    reader_.Leave(outer);
    return true;
  }

  // One entry of a map<string, InferParameter>.
  bool Parameter(InferParameters& parameters) {
    absl::string_view key;
    InferParameter value;
    const bool ok = Message([&](uint32_t field, WireType type) {
      if (type != WireType::kLength) return reader_.SkipValue(type);
      if (field == kMapKey) return Text(key);
      if (field != kMapValue) return reader_.SkipValue(type);
      return Message([&](uint32_t number, WireType wire) {
        return ParameterChoice(number, wire, value);
      });
    });
    if (ok) parameters.emplace_back(key, value);
    return ok;
  }

  bool ParameterChoice(uint32_t field, WireType type, InferParameter& value) {
    using Kind = InferParameter::Kind;
    switch (field) {
      case ParameterField::kBoolParamFieldNumber:
        return Number(type, Kind::kBool, value);
      case ParameterField::kInt64ParamFieldNumber:
        return Number(type, Kind::kInt64, value);
      case ParameterField::kUint64ParamFieldNumber:
        return Number(type, Kind::kUint64, value);
      case ParameterField::kStringParamFieldNumber:
        if (type != WireType::kLength) return reader_.SkipValue(type);
        value.kind = Kind::kString;
        return Text(value.text);
      case ParameterField::kDoubleParamFieldNumber:
        if (type != WireType::kFixed64) return reader_.SkipValue(type);
        value.kind = Kind::kDouble;
        return reader_.ReadFixed64(value.number);
      default:
        return reader_.SkipValue(type);
    }
  }

  bool Number(WireType type, InferParameter::Kind kind, InferParameter& value) {
    if (type != WireType::kVarint) return reader_.SkipValue(type);
    value.kind = kind;
    return reader_.ReadVarint(value.number);
  }

  // proto3 strings are UTF-8.
  bool Text(absl::string_view& text) {
    return reader_.ReadText(request_.scratch, text) && IsUtf8(text);
  }

  template <typename F>
  bool Message(F field_reader) {
    size_t length = 0;
    size_t outer = 0;
    if (!reader_.ReadLength(length) || !reader_.Enter(length, outer)) {
      return false;
    }
    while (!reader_.done()) {
      uint32_t field = 0;
      WireType type;
      if (!reader_.ReadTag(field, type) || !field_reader(field, type)) {
        return false;
      }
    }
    reader_.Leave(outer);
    return true;
  }

  WireReader reader_;
  InferRequest& request_;
};

}  // namespace

absl::Status ParseInferRequest(std::span<const WireReader::Piece> pieces,
                               InferRequest& request) {
  request.message = pieces;
  Parser parser(pieces, request);
  if (parser.Parse()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "the message is not a ModelInferRequest: malformed at or before byte ",
      parser.position()));
}

}  // namespace reprise
