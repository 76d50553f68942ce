// Log lines about slow requests.
#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/batch/infer_task.h"
#include "runtime/model/model_version.h"

namespace reprise {

// One line for each request that took longer than a bound, with its code and
// the time that it spent in each stage; at most ten a second, so that a slow
// minute does not become a slow disk.
//
// Threads: any.
class SlowLog {
 public:
  // Zero or less: nothing is slow.
  explicit SlowLog(absl::Duration bound) : bound_(bound) {}

  struct Request {
    const ModelVersion& model;
    absl::string_view id;
    const InferTask& task;
    const StageTimes& times;
    absl::Time finished;
    absl::StatusCode code;
  };
  void Observe(const Request& request) {
    if (bound_ > absl::ZeroDuration() &&
        request.finished - request.task.arrival > bound_) {
      Write(request);
    }
  }

  // The stages add up to the total; the last one is that in which the request
  // ended.
  static std::string Line(const Request& request);

 private:
  void Write(const Request& request) ABSL_LOCKS_EXCLUDED(mu_);

  const absl::Duration bound_;
  absl::Mutex mu_;
  absl::Time window_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  int lines_ ABSL_GUARDED_BY(mu_) = 0;    // in this window of a second
  int skipped_ ABSL_GUARDED_BY(mu_) = 0;  // since the last line
};

}  // namespace reprise
