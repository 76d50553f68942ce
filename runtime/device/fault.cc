#include "runtime/device/fault.h"

#include "absl/strings/cord.h"

namespace reprise {
namespace {

constexpr char kMark[] = "reprise/device-fault";

}  // namespace

absl::Status AsDeviceFault(absl::Status status) {
  if (!status.ok()) status.SetPayload(kMark, absl::Cord("1"));
  return status;
}

bool IsDeviceFault(const absl::Status& status) {
  return !status.ok() && status.GetPayload(kMark).has_value();
}

}  // namespace reprise
