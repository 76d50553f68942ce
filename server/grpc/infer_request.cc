#include "server/grpc/infer_request.h"

#include "absl/strings/str_cat.h"

namespace reprise {
namespace {

// Field numbers of the protocol.
constexpr uint32_t kModelName = 1;
constexpr uint32_t kModelVersion = 2;
constexpr uint32_t kId = 3;
constexpr uint32_t kParameters = 4;
constexpr uint32_t kInputs = 5;
constexpr uint32_t kOutputs = 6;
constexpr uint32_t kRawInputContents = 7;

// Bytes of the sequence that `lead` begins; 0 if nothing valid begins so.
size_t SequenceLength(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// Refuses overlong forms, surrogates and what is above U+10FFFF.
bool IsUtf8(absl::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const uint8_t lead = byte(i);
    const size_t length = SequenceLength(lead);
    if (length == 0 || length > text.size() - i) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    }
    if (length > 2) {
      const uint8_t next = byte(i + 1);
      if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f) ||
          (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f)) {
        return false;
      }
    }
    i += length;
  }
  return true;
}

class Parser {
 public:
  Parser(std::span<const WireReader::Piece> pieces, InferRequest* request)
      : reader_(pieces), request_(*request) {}

  bool Parse() {
    while (!reader_.done()) {
      uint32_t field = 0;
      WireType type;
      if (!reader_.ReadTag(&field, &type) || !Field(field, type)) return false;
    }
    return true;
  }

  size_t position() const { return reader_.position(); }

 private:
  bool Field(uint32_t field, WireType type) {
    if (type != WireType::kLength) return reader_.SkipValue(type);
    switch (field) {
      case kModelName:
        return Text(&request_.model_name);
      case kModelVersion:
        return Text(&request_.model_version);
      case kId:
        return Text(&request_.id);
      case kParameters:
        return Parameter(&request_.parameters);
      case kInputs:
        return Message([this, &input = request_.inputs.emplace_back()](
                           uint32_t number, WireType wire) {
          return InputField(number, wire, &input);
        });
      case kOutputs:
        return Message([this, &output = request_.outputs.emplace_back()](
                           uint32_t number, WireType wire) {
          return OutputField(number, wire, &output);
        });
      case kRawInputContents:
        return reader_.ReadPieces(&request_.raw.emplace_back());
      default:
        return reader_.SkipValue(type);
    }
  }

  bool InputField(uint32_t field, WireType type, InferRequest::Input* input) {
    if (field == 3) return Shape(type, &input->shape);
    if (type != WireType::kLength) return reader_.SkipValue(type);
    size_t length = 0;
    switch (field) {
      case 1:
        return Text(&input->name);
      case 2:
        return Text(&input->datatype);
      case 4:
        return Parameter(&input->parameters);
      case 5:
        if (!reader_.ReadLength(&length)) return false;
        input->contents.push_back({reader_.position(), length});
        return reader_.Skip(length);
      default:
        return reader_.SkipValue(type);
    }
  }

  bool OutputField(uint32_t field, WireType type,
                   InferRequest::Output* output) {
    if (field == 1 && type == WireType::kLength) return Text(&output->name);
    if (field == 2 && type == WireType::kLength) {
      return Parameter(&output->parameters);
    }
    return reader_.SkipValue(type);
  }

  // Packed, as proto3 writes it, or one by one.
  bool Shape(WireType type, Dims* shape) {
    uint64_t dim = 0;
    if (type == WireType::kVarint) {
      if (!reader_.ReadVarint(&dim)) return false;
      shape->push_back(static_cast<int64_t>(dim));
      return true;
    }
    if (type != WireType::kLength) return reader_.SkipValue(type);
    size_t length = 0;
    size_t outer = 0;
    if (!reader_.ReadLength(&length) || !reader_.Enter(length, &outer)) {
      return false;
    }
    while (!reader_.done()) {
      if (!reader_.ReadVarint(&dim)) return false;
      shape->push_back(static_cast<int64_t>(dim));
    }
    reader_.Leave(outer);
    return true;
  }

  // One entry of a map<string, InferParameter>.
  bool Parameter(InferParameters* parameters) {
    absl::string_view key;
    InferParameter value;
    const bool ok = Message([&](uint32_t field, WireType type) {
      if (type != WireType::kLength) return reader_.SkipValue(type);
      if (field == 1) return Text(&key);
      if (field != 2) return reader_.SkipValue(type);
      return Message([&](uint32_t number, WireType wire) {
        return ParameterChoice(number, wire, &value);
      });
    });
    if (ok) parameters->emplace_back(key, value);
    return ok;
  }

  bool ParameterChoice(uint32_t field, WireType type, InferParameter* value) {
    using Kind = InferParameter::Kind;
    if (type == WireType::kVarint && (field == 1 || field == 2 || field == 5)) {
      value->kind = field == 1   ? Kind::kBool
                    : field == 2 ? Kind::kInt64
                                 : Kind::kUint64;
      return reader_.ReadVarint(&value->number);
    }
    if (type == WireType::kLength && field == 3) {
      value->kind = Kind::kString;
      return Text(&value->text);
    }
    if (type == WireType::kFixed64 && field == 4) {
      value->kind = Kind::kDouble;
      return reader_.ReadFixed64(&value->number);
    }
    return reader_.SkipValue(type);
  }

  // proto3 strings are UTF-8.
  bool Text(absl::string_view* text) {
    return reader_.ReadText(request_.scratch, text) && IsUtf8(*text);
  }

  template <typename F>
  bool Message(F field_reader) {
    size_t length = 0;
    size_t outer = 0;
    if (!reader_.ReadLength(&length) || !reader_.Enter(length, &outer)) {
      return false;
    }
    while (!reader_.done()) {
      uint32_t field = 0;
      WireType type;
      if (!reader_.ReadTag(&field, &type) || !field_reader(field, type)) {
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
                               InferRequest* request) {
  request->message = pieces;
  Parser parser(pieces, request);
  if (parser.Parse()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "the message is not a ModelInferRequest: malformed at or before byte ",
      parser.position()));
}

}  // namespace reprise
