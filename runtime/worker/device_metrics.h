// What a GPU tells of its runs, its graphs and its loaders, as series.
#pragma once

#include <array>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
#include "runtime/device/device.h"
#include "runtime/device/device_observer.h"
#include "runtime/device/load_steps.h"

namespace reprise {

// The series have label `device`, are there from the start, and stay with the
// registry.
//
// Threads: any.
class DeviceMetrics final : public DeviceObserver {
 public:
  // `metrics` must outlive it; `device` is the GPU's index.
  DeviceMetrics(prometheus::Registry& metrics, const std::string& device);

  void Ran(RunKind kind) override;
  void Captured(absl::Duration took) override;
  void LeftOut() override { left_out_->Increment(); }
  void Stepped(LoadStep step, absl::Duration took) override
      ABSL_LOCKS_EXCLUDED(mu_);

  // The device is lost, by an error of CUDA's or since it hangs.
  void Faulted() { faults_->Increment(); }
  void Hung() { hangs_->Increment(); }
  // How many graphs there are now.
  void SetGraphs(int count) { graphs_->Set(count); }
  // Of `memory`, what there is for a GPU only.
  void SetMemory(const DeviceMemory& memory);

 private:
  // All owned by the registry.
  std::array<prometheus::Counter*, kRunKinds> runs_;
  std::array<prometheus::Histogram*, kLoadSteps> step_seconds_;
  std::array<prometheus::Gauge*, kLoadSteps> longest_steps_;
  prometheus::Histogram* capture_seconds_;
  prometheus::Gauge* graphs_;
  prometheus::Gauge* bank_bytes_;
  prometheus::Gauge* code_bytes_;
  prometheus::Gauge* graph_bytes_;
  prometheus::Counter* left_out_;
  prometheus::Counter* faults_;
  prometheus::Counter* hangs_;

  absl::Mutex mu_;
  std::array<absl::Duration, kLoadSteps> longest_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
