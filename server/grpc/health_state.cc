#include "server/grpc/health_state.h"

#include <algorithm>

namespace reprise {

bool HealthState::IsKnownModel(absl::string_view name) const {
  if (name.empty()) return false;
  const std::vector<IndexEntry> index = registry_.Index();
  return std::any_of(index.begin(), index.end(),
                     [name](const IndexEntry& e) { return e.name == name; });
}

Serving HealthState::Of(absl::string_view service) const {
  if (service.empty() || service == "liveness") {
    return lost_ ? Serving::kNotServing : Serving::kServing;
  }
  if (service == "readiness" || service == "inference.GRPCInferenceService") {
    return Ready() ? Serving::kServing : Serving::kNotServing;
  }
  if (!lost_ && registry_.Acquire(service, "").ok()) return Serving::kServing;
  return IsKnownModel(service) ? Serving::kNotServing
                               : Serving::kUnknownService;
}

std::set<std::string> HealthState::Services() const {
  std::set<std::string> services = {"", "liveness", "readiness",
                                    "inference.GRPCInferenceService"};
  for (const IndexEntry& entry : registry_.Index()) {
    services.insert(entry.name);
  }
  return services;
}

}  // namespace reprise
