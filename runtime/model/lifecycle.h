// The states of a model version and the moves between them.
#pragma once

#include "absl/strings/string_view.h"

namespace reprise {

// kUnknown -> kLoading -> kReady -> kUnloading -> kUnavailable -> kLoading ...
// kLoading -> kUnavailable when a load fails. A hot reload keeps kReady.
enum class VersionState {
  kUnknown,
  kLoading,
  kReady,
  kUnloading,
  kUnavailable,
};

bool CanMove(VersionState from, VersionState to);

// The protocol's word: "UNKNOWN", "READY", "UNAVAILABLE", "LOADING",
// "UNLOADING".
absl::string_view StateName(VersionState state);

}  // namespace reprise
