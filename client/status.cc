#include "client/status.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace reprise::client {
namespace {

constexpr absl::string_view kRpcMark = "reprise.client/rpc";

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status out(static_cast<absl::StatusCode>(status.error_code()),
                   status.error_message());
  out.SetPayload(kRpcMark, absl::Cord());
  return out;
}

bool IsRpcError(const absl::Status& status) {
  return status.GetPayload(kRpcMark).has_value();
}

absl::Status Annotate(const absl::Status& status, absl::string_view where) {
  if (status.ok()) return status;
  absl::Status out(status.code(), absl::StrCat(where, ": ", status.message()));
  status.ForEachPayload([&out](absl::string_view url, const absl::Cord& value) {
    out.SetPayload(url, value);
  });
  return out;
}

}  // namespace reprise::client
