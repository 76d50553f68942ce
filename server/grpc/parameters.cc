#include "server/grpc/parameters.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/status_macros.h"
#include "server/grpc/shown.h"

namespace reprise {
namespace {

using Kind = InferParameter::Kind;

constexpr size_t kMaxSequenceId = 128;

absl::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "no value";
    case Kind::kBool:
      return "bool_param";
    case Kind::kInt64:
      return "int64_param";
    case Kind::kString:
      return "string_param";
    case Kind::kDouble:
      return "double_param";
    case Kind::kUint64:
      return "uint64_param";
  }
  return "";
}

absl::Status WrongType(absl::string_view key, Kind kind,
                       absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("invalid value type for parameter ", Shown(key),
                   ", expected ", expected, ", got ", KindName(kind)));
}

absl::Status ReadPriority(absl::string_view key, const InferParameter& value,
                          RequestParameters& out) {
  if (value.kind == Kind::kInt64 && value.int64() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter 'priority' must be >= 0, got ", value.int64()));
  }
  if (value.kind != Kind::kInt64 && value.kind != Kind::kUint64) {
    return WrongType(key, value.kind, "int64_param or uint64_param");
  }
  out.priority = value.number;
  return absl::OkStatus();
}

absl::Status CheckSequenceId(absl::string_view key,
                             const InferParameter& value) {
  if (value.kind == Kind::kString) {
    if (value.text.size() <= kMaxSequenceId) return absl::OkStatus();
    return absl::UnimplementedError(
        absl::StrCat("parameter 'sequence_id' has ", value.text.size(),
                     " bytes, at most ", kMaxSequenceId, " are supported"));
  }
  if (value.kind == Kind::kInt64) return absl::OkStatus();
  return WrongType(key, value.kind, "int64_param or string_param");
}

absl::Status ReadOne(absl::string_view key, const InferParameter& value,
                     RequestParameters& out) {
  if (key == "priority") return ReadPriority(key, value, out);
  if (key == "sequence_id") return CheckSequenceId(key, value);
  if (key == "timeout") {
    if (value.kind != Kind::kInt64) {
      return WrongType(key, value.kind, "int64_param (microseconds)");
    }
    out.timeout_us = std::max<int64_t>(0, value.int64());
    return absl::OkStatus();
  }
  if (key == "sequence_start" || key == "sequence_end" ||
      key == "triton_enable_empty_final_response") {
    if (value.kind == Kind::kBool) return absl::OkStatus();
    return WrongType(key, value.kind, "bool_param");
  }
  if (absl::StartsWith(key, "triton_")) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", Shown(key),
                     " is reserved: keys may not begin with "
                     "'triton_'"));
  }
  if (value.kind == Kind::kNone || value.kind == Kind::kUint64) {
    return WrongType(key, value.kind,
                     "bool_param, int64_param, string_param or double_param");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RequestParameters> ReadRequestParameters(
    const InferParameters& parameters) {
  RequestParameters out;
  for (const auto& [key, value] : parameters) {
    REPRISE_RETURN_IF_ERROR(ReadOne(key, value, out));
  }
  return out;
}

absl::Status CheckNoSharedMemory(const InferParameters& parameters) {
  for (const auto& [key, value] : parameters) {
    if (absl::StartsWith(key, "shared_memory_")) {
      return absl::UnimplementedError(absl::StrCat(
          "parameter ", Shown(key), ": client shared memory is disabled"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadClassification(const InferParameters& parameters) {
  int64_t top_k = 0;
  for (const auto& [key, value] : parameters) {
    if (key != "classification") continue;
    if (value.kind != Kind::kInt64) {
      return WrongType(key, value.kind, "int64_param");
    }
    if (value.int64() <= 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "parameter 'classification' must be > 0, got ", value.int64()));
    }
    top_k = value.int64();
  }
  return top_k;
}

}  // namespace reprise
