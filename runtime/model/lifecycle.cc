#include "runtime/model/lifecycle.h"

namespace reprise {

bool CanMove(VersionState from, VersionState to) {
  switch (from) {
    case VersionState::kUnknown:
      return to == VersionState::kLoading;
    case VersionState::kLoading:
      return to == VersionState::kReady || to == VersionState::kUnavailable;
    case VersionState::kReady:
      return to == VersionState::kUnloading;
    case VersionState::kUnloading:
      return to == VersionState::kUnavailable;
    case VersionState::kUnavailable:
      return to == VersionState::kLoading;
  }
  return false;
}

absl::string_view StateName(VersionState state) {
  switch (state) {
    case VersionState::kUnknown:
      return "UNKNOWN";
    case VersionState::kLoading:
      return "LOADING";
    case VersionState::kReady:
      return "READY";
    case VersionState::kUnloading:
      return "UNLOADING";
    case VersionState::kUnavailable:
      return "UNAVAILABLE";
  }
  return "UNKNOWN";
}

}  // namespace reprise
