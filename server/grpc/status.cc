#include "server/grpc/status.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace reprise {
namespace {

// Trailers of 8 KiB are refused by default, and escaping may triple a text.
constexpr size_t kMaxMessage = 2048;

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message().substr(0, kMaxMessage))};
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
