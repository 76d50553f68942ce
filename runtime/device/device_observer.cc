#include "runtime/device/device_observer.h"

#include <array>
#include <cstddef>

namespace reprise {

absl::string_view RunKindName(RunKind kind) {
  static constexpr std::array<absl::string_view, kRunKinds> kNames = {
      "batch", "warm_up", "check", "canary", "timing"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace reprise
