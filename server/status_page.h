// The page at / of the metrics port.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/model/registry.h"

namespace reprise {

struct StatusPage {
  std::string version;
  std::string grpc_target;
  absl::Duration uptime;
  bool ready = false;
  std::vector<IndexEntry> models;
};

// HTML; names and reasons are escaped.
std::string Render(const StatusPage& page);

}  // namespace reprise
