// The HTTP pages for Prometheus, probes and people.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "prometheus/collectable.h"
#include "server/options.h"

struct mg_context;
struct mg_connection;

namespace reprise {

// /metrics in Prometheus' text format; /livez and /readyz: 200 or 503; / a
// status page. Served by threads of its own: a stuck device holds nothing up.
//
// Threads: any. The functions of Pages are called on the pages' threads.
class MetricsHttp {
 public:
  struct Pages {
    std::function<bool()> live;
    std::function<bool()> ready;
    std::function<std::string()> status;  // HTML
    // Borrowed; must outlive the pages.
    std::vector<const prometheus::Collectable*> metrics;
  };

  // UNAVAILABLE: cannot listen; the text says where and why.
  static absl::StatusOr<std::unique_ptr<MetricsHttp>> Create(
      const MetricsOptions& options, Pages pages);
  ~MetricsHttp();

  int port() const { return port_; }

 private:
  MetricsHttp(std::string address, Pages pages)
      : address_(std::move(address)), pages_(std::move(pages)) {}
  absl::Status Listen(int port);
  static int Handle(mg_connection* connection, void* pages);

  const std::string address_;
  const Pages pages_;
  mg_context* context_ = nullptr;  // owned
  int port_ = 0;
};

}  // namespace reprise
