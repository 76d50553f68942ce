// The daemon: owns everything, starts and stops it in order.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/device/device.h"
#include "runtime/model/registry.h"
#include "runtime/worker/device_worker.h"
#include "runtime/worker/model_manager.h"
#include "server/gpu_metrics.h"
#include "server/grpc/front.h"
#include "server/metrics_http.h"
#include "server/options.h"
#include "server/process_metrics.h"

namespace reprise {

// The program's version, and the commit it was built from (may be empty).
std::string ProgramVersion();
std::string ProgramCommit();

// Changes the device that a worker gets; null leaves it as it is. Test builds
// of the daemon use it.
using DeviceWrapper =
    std::function<DeviceWorker::DeviceFactory(DeviceWorker::DeviceFactory)>;

// Lifecycle: Create (live and answering, not ready), Start (models are loaded;
// ready when the required ones are), Drain once. Destruction without Drain
// stops at once.
// Threads: Create, Start, Drain and destruction from one thread at a time.
// Destruction waits for what runs: a load, a batch.
class Server {
 public:
  // INVALID_ARGUMENT: options that the parts refuse. UNAVAILABLE: a port cannot
  // be had, or the device. `clock` must outlive the server.
  static absl::StatusOr<std::unique_ptr<Server>> Create(
      const ServerOptions& options, Clock& clock,
      const DeviceWrapper& wrap = nullptr);
  ~Server();

  // Before Start: `lost` is called, once, when a device is lost and the health
  // services have begun to say so; it does not wait. The server is to be ended
  // by EndLost, and then the process.
  void OnLost(std::function<void()> lost) { on_lost_ = std::move(lost); }
  bool lost() const { return lost_; }

  // Loads the models on a thread of its own. `loaded` is called there with OK,
  // or with what failed, one failure a line.
  void Start(std::function<void(const absl::Status&)> loaded);

  // Not ready at once; serves for the lame-duck time; stops accepting; answers
  // everything, for the exit timeout at most. Returns whether everything
  // accepted was answered by the models, and no load is under way; else it has
  // logged which. The metrics are served on, until destruction. Blocks, beyond
  // all bounds if a load does not end.
  bool Drain();

  // A device is lost: lets the last replies go out, and takes no more calls.
  // Blocks, perhaps for ever: where a device hangs, its loaders do. Nothing can
  // be destroyed then.
  void EndLost();

  // "127.0.0.1:8001", and the ports that are really in use.
  const std::string& grpc_target() const { return front_->target(); }
  int grpc_port() const { return front_->port(); }
  int metrics_port() const { return http_ == nullptr ? 0 : http_->port(); }

 private:
  Server(const ServerOptions& options, Clock& clock)
      : options_(options), clock_(clock), started_(clock.Now()) {}

  absl::Status MakeWorkers(const DeviceWrapper& wrap);
  absl::Status MakeFront();
  absl::Status MakePages();
  void StopAll(absl::Time deadline);
  void Lose(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mu_);
  // Until a device is lost, at most.
  void Pause(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mu_);
  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  void EndWatch() ABSL_LOCKS_EXCLUDED(mu_);

  const ServerOptions options_;
  Clock& clock_;
  const absl::Time started_;

  // In order of use: each needs those before it.
  prometheus::Registry metrics_;
  ProcessMetrics process_metrics_;
  std::unique_ptr<GpuMetrics> gpu_metrics_;
  ModelRegistry registry_;
  std::vector<std::unique_ptr<DeviceWorker>> workers_;
  std::unique_ptr<ModelManager> manager_;
  std::unique_ptr<GrpcFront> front_;
  std::unique_ptr<MetricsHttp> http_;
  bool stopped_ = false;
  bool ended_in_time_ = true;
  std::function<void()> on_lost_;
  std::atomic<bool> lost_{false};
  Thread loading_;

  absl::Mutex mu_;
  bool watch_ends_ ABSL_GUARDED_BY(mu_) = false;
  bool pause_ends_ ABSL_GUARDED_BY(mu_) = false;
  Thread watching_;
};

}  // namespace reprise
