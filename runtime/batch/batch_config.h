// How one model's requests are queued and batched, as its configuration says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"

namespace reprise {

// ModelQueuePolicy of config.pbtxt.
struct QueuePolicy {
  enum class TimeoutAction { kReject, kDelay };
  TimeoutAction timeout_action = TimeoutAction::kReject;
  absl::Duration default_timeout = absl::ZeroDuration();  // zero: none
  uint32_t max_queue_size = 0;  // requests; zero: the global bound only

  bool operator==(const QueuePolicy&) const = default;
};

struct BatchConfig {
  bool dynamic_batching = false;  // false: every request is a batch of its own
  absl::Duration max_queue_delay = absl::ZeroDuration();
  std::vector<int> preferred_sizes;  // empty: the ladder's
  bool preserve_ordering = false;
  uint64_t priority_levels = 0;  // zero: priorities are ignored
  uint64_t default_priority = 0;
  QueuePolicy default_queue;
  std::map<uint64_t, QueuePolicy> priority_queues;  // by level
  std::optional<absl::Duration> slo;  // parameter `slo_ms`; none: no SLO
  int64_t max_queue_requests = 1024;  // --max-queue-requests
  int64_t max_queue_bytes = int64_t{256} << 20;  // --max-queue-bytes
  int max_variants = 32;                         // parameter `max_variants`

  bool operator==(const BatchConfig&) const = default;
};

}  // namespace reprise
