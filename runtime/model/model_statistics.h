// What one model version has done: the counters behind ModelStatistics.
#pragma once

#include <cstdint>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace reprise {

// A number of events and their summed duration, as Triton's StatisticDuration.
struct DurationCount {
  uint64_t count = 0;
  absl::Duration total;

  void Add(absl::Duration duration) {
    ++count;
    total += duration;
  }
};

// Threads: every method of ModelStatistics from any thread.
class ModelStatistics {
 public:
  // Of one executed size, counted once per execution. The output is handed out
  // request by request: a batch's time for it is that of its requests, averaged
  // over its rows; those that got no answer add nothing.
  struct Batch {
    DurationCount compute_input;
    DurationCount compute_infer;
    DurationCount compute_output;
  };

  struct Snapshot {
    absl::Time last_inference = absl::UnixEpoch();
    uint64_t inference_count = 0;  // rows answered OK
    uint64_t execution_count = 0;  // batches
    DurationCount success;         // whole requests
    DurationCount fail;
    DurationCount queue;
    DurationCount compute_input;
    DurationCount compute_infer;
    DurationCount compute_output;
    std::map<uint64_t, Batch> batches;  // by rows in the batch
  };

  // One request was answered OK. The four stages are those of its batch.
  struct Success {
    absl::Time finished;
    int rows = 1;
    int batch_rows = 0;  // of its batch, as AddBatch had them; 0: unknown
    absl::Duration total;
    absl::Duration queue;
    absl::Duration compute_input;
    absl::Duration compute_infer;
    absl::Duration compute_output;
  };
  void AddSuccess(const Success& success) ABSL_LOCKS_EXCLUDED(mu_);
  void AddFailure(absl::Duration total) ABSL_LOCKS_EXCLUDED(mu_);

  // One batch of `rows` real rows was executed.
  void AddBatch(int rows, absl::Duration compute_input,
                absl::Duration compute_infer, absl::Duration compute_output)
      ABSL_LOCKS_EXCLUDED(mu_);

  Snapshot snapshot() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  Snapshot data_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
