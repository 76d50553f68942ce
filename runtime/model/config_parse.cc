#include "runtime/model/config_parse.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/utf8.h"

namespace reprise {
namespace {

constexpr int kMaxNesting = 64;
constexpr size_t kMaxFaults = 8;

// Keeps the first faults of a parse, with places counted from 1.
class FaultCollector final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (faults_.size() == kMaxFaults) return;
    faults_.push_back(
        absl::StrCat("line ", line + 1, ":", column + 1, ": ", message));
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber,
                  const std::string&) override {}

  std::string Text() const { return absl::StrJoin(faults_, "; "); }

 private:
  std::vector<std::string> faults_;
};

absl::Status CheckSize(absl::string_view text) {
  if (text.size() > static_cast<size_t>(kMaxConfigBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the configuration has ", text.size(), " bytes; at most ",
                     kMaxConfigBytes, " are read"));
  }
  return absl::OkStatus();
}

// Protobuf shows where a text stops being JSON over three lines: what is wrong,
// the text around the place, and a '^' below the place. In one line, that is
// the text from the place on.
std::string InOneLine(absl::string_view message) {
  const size_t first = message.find('\n');
  const size_t last = message.rfind('\n');
  if (first == last || !absl::EndsWith(message, "^")) {
    return absl::StrJoin(absl::StrSplit(message, '\n', absl::SkipWhitespace()),
                         " ");
  }
  const size_t place = message.size() - last - 2;  // '^' is last in its line
  absl::string_view text = message.substr(first + 1, last - first - 1);
  text.remove_prefix(std::min(place, text.size()));
  std::string shown(text);
  absl::RemoveExtraAsciiWhitespace(&shown);
  return absl::StrCat(message.substr(0, first),
                      shown.empty() ? " At its end" : " At '", shown,
                      shown.empty() ? "" : "'");
}

absl::Status JsonFault(const std::string& json, absl::string_view message) {
  constexpr absl::string_view kUnknownField = ": Cannot find field.";
  if (absl::ConsumeSuffix(&message, kUnknownField)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no such field: ", InOneLine(message)));
  }
  const bool is_json = nlohmann::json::accept(json);
  return absl::InvalidArgumentError(absl::StrCat(
      is_json ? "not a configuration: " : "not JSON: ", InOneLine(message)));
}

absl::Status CheckStrings(const google::protobuf::Message& message);

// The element `index` of a field, or (-1) the field itself.
absl::Status CheckValue(const google::protobuf::Message& message,
                        const google::protobuf::FieldDescriptor& field,
                        int index) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& values = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return CheckStrings(
        index < 0 ? values.GetMessage(message, &field)
                  : values.GetRepeatedMessage(message, &field, index));
  }
  if (field.type() != FieldDescriptor::TYPE_STRING) return absl::OkStatus();
  const std::string text =
      index < 0 ? values.GetString(message, &field)
                : values.GetRepeatedString(message, &field, index);
  if (IsUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", ToUtf8(text), "' is not UTF-8"));
}

// Whether every string is UTF-8, as those that are sent to clients must be. The
// text format may escape any byte.
absl::Status CheckStrings(const google::protobuf::Message& message) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const auto* field : fields) {
    const bool repeated = field->is_repeated();
    const int end =
        repeated ? message.GetReflection()->FieldSize(message, field) : 0;
    for (int i = repeated ? 0 : -1; i < end; ++i) {
      REPRISE_RETURN_IF_ERROR(
          Annotate(CheckValue(message, *field, i), field->name()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParsedConfig> ParseConfigText(absl::string_view text) {
  REPRISE_RETURN_IF_ERROR(CheckSize(text));
  ParsedConfig parsed;
  FaultCollector faults;
  google::protobuf::TextFormat::ParseInfoTree places;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&faults);
  parser.WriteLocationsTo(&places);
  parser.SetRecursionLimit(kMaxNesting);
  if (!parser.ParseFromString(std::string(text), &parsed.proto)) {
    return absl::InvalidArgumentError(ToUtf8(faults.Text()));
  }
  REPRISE_RETURN_IF_ERROR(CheckStrings(parsed.proto));
  const auto* field =
      inference::ModelConfig::descriptor()->FindFieldByName("max_batch_size");
  parsed.has_max_batch_size = places.GetLocation(field, -1).line >= 0;
  return parsed;
}

absl::StatusOr<ParsedConfig> ParseConfigJson(absl::string_view text) {
  REPRISE_RETURN_IF_ERROR(CheckSize(text));
  ParsedConfig parsed;
  const std::string json(text);
  const auto status =
      google::protobuf::util::JsonStringToMessage(json, &parsed.proto);
  if (!status.ok()) {
    return JsonFault(json, {status.message().data(), status.message().size()});
  }
  REPRISE_RETURN_IF_ERROR(CheckStrings(parsed.proto));
  // Protobuf has accepted the text, so that its depth is bounded.
  const auto tree = nlohmann::json::parse(json, /*cb=*/nullptr,
                                          /*allow_exceptions=*/false);
  parsed.has_max_batch_size =
      tree.is_object() &&
      (tree.contains("max_batch_size") || tree.contains("maxBatchSize"));
  return parsed;
}

}  // namespace reprise
