// What GPUs measure of themselves, as series.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/device/sensors.h"

namespace reprise {

// Reads the sensors once a second, on a thread of its own: a driver that is
// held up stops neither scrapes nor workers. What a GPU does not say has no
// series; counters begin with 0 at the first reading.
//
// Threads: constructed and destroyed by one; destruction waits for a reading.
class GpuMetrics {
 public:
  struct Gpu {
    int index = 0;
    // Called once, on the thread: an error is logged, once for all GPUs that
    // have the same.
    std::function<absl::StatusOr<std::unique_ptr<Sensors>>()> open;
  };

  // `clock` and `metrics` outlive it. Without GPUs there is no thread.
  GpuMetrics(std::vector<Gpu> gpus, Clock& clock,
             prometheus::Registry& metrics);
  ~GpuMetrics();

 private:
  class Families;
  class Series;

  void Run();
  void Open(std::vector<std::unique_ptr<Series>>& series);

  const std::vector<Gpu> gpus_;
  Clock& clock_;
  const std::unique_ptr<Families> families_;

  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Thread thread_;
};

}  // namespace reprise
