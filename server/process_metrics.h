// process_*: what Prometheus' own client libraries say of every process.
#pragma once

#include <vector>

#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"

namespace reprise {

// Read from /proc at each scrape; what cannot be read is left out.
// Threads: any.
class ProcessMetrics final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace reprise
