// A waiting request, as a queue keeps it and the policy sees it.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "runtime/batch/infer_task.h"

namespace reprise {

struct Waiting {
  InferTask* task = nullptr;                     // the policy never looks at it
  absl::Time deadline = absl::InfiniteFuture();  // reply due
  absl::Time queue_limit = absl::InfiniteFuture();  // run begun
  // When it is answered unrun: the deadline, or the queue limit if that
  // rejects.
  absl::Time expiry = absl::InfiniteFuture();
  // When it must be looked at next: it expires, runs after the others from now
  // on, or has waited long enough to go first.
  absl::Time event = absl::InfiniteFuture();
  absl::Time enqueued = absl::InfinitePast();
  uint64_t sequence = 0;  // order of acceptance within the model
  uint32_t level = 0;     // priority: lower levels run first
  int rows = 1;
  absl::Duration cost;  // predicted share of the device's time; for its owner
};

}  // namespace reprise
