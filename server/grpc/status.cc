#include "server/grpc/status.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "runtime/base/utf8.h"

namespace reprise {
namespace {

// Trailers of 8 KiB are refused by default, and escaping may triple a text.
constexpr size_t kMaxMessage = 2048;
// Of a text that is longer: its end, and what stands for its middle.
constexpr size_t kEnd = 512;
constexpr absl::string_view kLeftOut = "...";

// A name that fills the text stands in its middle; what is wrong with it often
// comes last.
std::string Fitting(absl::string_view text) {
  if (text.size() <= kMaxMessage) return std::string(text);
  const size_t begin = kMaxMessage - kEnd - kMaxUtf8Bytes - kLeftOut.size();
  return absl::StrCat(text.substr(0, CharacterStart(text, begin)), kLeftOut,
                      text.substr(CharacterStart(text, text.size() - kEnd)));
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()),
          Fitting(ToUtf8(status.message()))};
}

absl::Status FromGrpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()),
          status.error_message()};
}

std::string CodeName(absl::StatusCode code) {
  return absl::StatusCodeToString(code);
}

std::string PushbackText(absl::Duration retry_after) {
  const int64_t ms =
      absl::ToInt64Milliseconds(absl::Ceil(retry_after, absl::Milliseconds(1)));
  return absl::StrCat(std::max<int64_t>(1, ms));
}

}  // namespace reprise
