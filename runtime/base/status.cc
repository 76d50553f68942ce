#include "runtime/base/status.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace reprise {

absl::Status Annotate(const absl::Status& status, absl::string_view where) {
  if (status.ok()) return status;
  absl::Status out(status.code(), absl::StrCat(where, ": ", status.message()));
  status.ForEachPayload([&out](absl::string_view url, const absl::Cord& value) {
    out.SetPayload(url, value);
  });
  return out;
}

}  // namespace reprise
