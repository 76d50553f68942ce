// What the instrumented daemon has in its captured graphs.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/graph_probe.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/module.h"

namespace reprise::gpu_test {

// Measures replays by the GPU's clock, in a first and a last kernel of each
// graph, and writes "count N\nseconds S\n" to a file every 100 ms. One lane.
//
// Threads: as GraphProbe; made and destroyed on any.
class GraphStamps final : public cuda::GraphProbe {
 public:
  static absl::StatusOr<std::unique_ptr<GraphStamps>> Create(
      const cuda::Driver& driver, CUdevice device, std::string file,
      Clock& clock);
  ~GraphStamps() override;

  absl::Status Begin(const cuda::CurrentContext& current,
                     CUstream stream) override;
  absl::Status End(const cuda::CurrentContext& current,
                   CUstream stream) override;

 private:
  GraphStamps(std::unique_ptr<cuda::PrimaryContext> context, std::string file,
              Clock& clock)
      : context_(std::move(context)), file_(std::move(file)), clock_(clock) {}

  absl::Status Make();
  absl::Status Launch(CUfunction kernel, CUstream stream);
  absl::Status Write(const cuda::CurrentContext& current);
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  const std::unique_ptr<cuda::PrimaryContext> context_;
  const std::string file_;
  Clock& clock_;
  cuda::Modules modules_;
  CUfunction begin_ = nullptr;
  CUfunction end_ = nullptr;
  cuda::DeviceBuffer words_;
  cuda::PinnedBuffer copy_;
  cuda::UniqueStream stream_;

  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Thread thread_;
};

// Takes all of the GPU's free memory when graph number `at` (from 1) begins to
// be captured, and gives it back `hold` later.
//
// Threads: as GraphProbe.
class MemoryFiller final : public cuda::GraphProbe {
 public:
  static absl::StatusOr<std::unique_ptr<MemoryFiller>> Create(
      const cuda::Driver& driver, CUdevice device, int at, absl::Duration hold,
      Clock& clock);
  ~MemoryFiller() override;

  absl::Status Begin(const cuda::CurrentContext& current,
                     CUstream stream) override ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status End(const cuda::CurrentContext& /*current*/,
                   CUstream /*stream*/) override {
    return absl::OkStatus();
  }

 private:
  MemoryFiller(std::unique_ptr<cuda::PrimaryContext> context, int at,
               absl::Duration hold, Clock& clock)
      : context_(std::move(context)), at_(at), hold_(hold), clock_(clock) {}

  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  const std::unique_ptr<cuda::PrimaryContext> context_;
  const int at_;
  const absl::Duration hold_;
  Clock& clock_;

  absl::Mutex mu_;
  int graphs_ ABSL_GUARDED_BY(mu_) = 0;
  bool filled_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Thread thread_;
};

}  // namespace reprise::gpu_test
