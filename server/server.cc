#include "server/server.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "server/devices.h"
#include "server/status_page.h"

namespace reprise {
namespace {

// For replies that are on their way when the models have answered.
constexpr absl::Duration kLastReplies = absl::Seconds(2);

constexpr absl::Duration kLastErrors =
    absl::Milliseconds(500);  // a lost device

// How often the workers' watchdogs are looked at.
constexpr absl::Duration kWatch = absl::Milliseconds(100);

}  // namespace

std::string ProgramVersion() { return REPRISE_VERSION; }
std::string ProgramCommit() { return REPRISE_COMMIT; }

absl::StatusOr<std::unique_ptr<Server>> Server::Create(
    const ServerOptions& options, Clock& clock, const DeviceWrapper& wrap) {
  auto server = absl::WrapUnique(new Server(options, clock));
  REPRISE_RETURN_IF_ERROR(server->MakeWorkers(wrap));
  REPRISE_RETURN_IF_ERROR(server->MakeFront());
  REPRISE_RETURN_IF_ERROR(server->MakePages());
  return server;
}

absl::Status Server::MakeWorkers(const DeviceWrapper& wrap) {
  REPRISE_ASSIGN_OR_RETURN(std::vector<DeviceToMake> devices,
                           FindDevices(options_, clock_));
  ShowDevices(devices, ProgramVersion(), ProgramCommit(), metrics_);
  std::vector<GpuMetrics::Gpu> sensors;
  for (DeviceToMake& device : devices) {
    WorkerOptions worker;
    worker.gpu_index = device.gpu_index;
    worker.watchdog = options_.watchdog;
    worker.load_share = options_.load_share_percent / 100.0;
    worker.on_lost = [this](const absl::Status& why) { Lose(why); };
    DeviceWorker::DeviceFactory factory = std::move(device.make);
    if (wrap != nullptr) factory = wrap(std::move(factory));
    REPRISE_ASSIGN_OR_RETURN(
        std::unique_ptr<DeviceWorker> made,
        DeviceWorker::Create(factory, worker, clock_, metrics_));
    workers_.push_back(std::move(made));
    if (device.sensors == nullptr || !options_.metrics.enabled) continue;
    sensors.push_back({*device.gpu_index, std::move(device.sensors)});
  }
  gpu_metrics_ =
      std::make_unique<GpuMetrics>(std::move(sensors), clock_, metrics_);
  return absl::OkStatus();
}

absl::Status Server::MakeFront() {
  std::vector<DeviceWorker*> workers;
  for (const auto& worker : workers_) workers.push_back(worker.get());
  ModelManagerOptions models = options_.models;
  models.max_message_bytes = options_.grpc.max_message_bytes;
  REPRISE_ASSIGN_OR_RETURN(
      manager_, ModelManager::Create(std::move(models), std::move(workers),
                                     registry_, clock_, metrics_));
  REPRISE_ASSIGN_OR_RETURN(
      front_, GrpcFront::Create(options_.grpc, {.registry = registry_,
                                                .manager = *manager_,
                                                .clock = clock_,
                                                .metrics = metrics_,
                                                .version = ProgramVersion()}));
  return absl::OkStatus();
}

absl::Status Server::MakePages() {
  if (!options_.metrics.enabled) return absl::OkStatus();
  MetricsHttp::Pages pages;
  pages.live = [this] { return !lost_; };
  pages.ready = [this] { return front_->health().Ready(); };
  pages.status = [this] {
    return Render({.version = ProgramVersion(),
                   .grpc_target = front_->target(),
                   .uptime = clock_.Now() - started_,
                   .ready = front_->health().Ready(),
                   .models = manager_->Index()});
  };
  pages.metrics = {&metrics_, &process_metrics_};
  REPRISE_ASSIGN_OR_RETURN(
      http_, MetricsHttp::Create(options_.metrics, std::move(pages)));
  return absl::OkStatus();
}

void Server::Start(std::function<void(const absl::Status&)> loaded) {
  LogInfo(absl::StrCat(
      "live grpc=", front_->target(),
      " metrics_port=", http_ == nullptr ? "off" : absl::StrCat(http_->port()),
      " seconds=", absl::ToDoubleSeconds(clock_.Now() - started_)));
  watching_ = Thread("watchdog", [this] { Watch(); });
  loading_ = Thread("load-start", [this, loaded = std::move(loaded)] {
    loaded(manager_->LoadAtStart());
  });
}

// On a thread that may be a worker's. The first error is the one that matters.
void Server::Lose(const absl::Status& why) {
  if (lost_.exchange(true)) return;
  {
    absl::MutexLock lock(&mu_);
    if (watch_ends_) return;  // everything is answered; the front may be gone
    front_->SetLost();
    pause_ends_ = true;
  }
  LogError(
      absl::StrCat("a device is lost: every request is answered UNAVAILABLE, "
                   "and the process "
                   "ends, to be started anew reason=",
                   LogValue(why.message())));
  if (on_lost_) on_lost_();
}

void Server::Pause(absl::Duration duration) {
  absl::MutexLock lock(&mu_);
  clock_.Await(mu_, absl::Condition(&pause_ends_), clock_.Now() + duration);
}

void Server::Watch() {
  for (;;) {
    {
      absl::MutexLock lock(&mu_);
      if (clock_.Await(mu_, absl::Condition(&watch_ends_),
                       clock_.Now() + kWatch)) {
        return;
      }
    }
    for (const auto& worker : workers_) worker->CheckWatchdog();
  }
}

void Server::EndWatch() {
  {
    absl::MutexLock lock(&mu_);
    watch_ends_ = true;
  }
  watching_.Join();
}

// A shutdown alone would cancel the calls of clients that have not heard of it.
void Server::EndLost() {
  front_->StopAccepting();
  front_->Shutdown(clock_.Now() + kLastErrors);
}

bool Server::Drain() {
  front_->StartDraining();
  LogInfo(absl::StrCat(
      "draining lame_duck_seconds=", absl::ToDoubleSeconds(options_.lame_duck),
      " exit_timeout_seconds=", absl::ToDoubleSeconds(options_.exit_timeout)));
  Pause(options_.lame_duck);
  if (lost_) return false;
  const absl::Time deadline = clock_.Now() + options_.exit_timeout;
  front_->StopAccepting();
  LogInfo("stopped accepting");
  StopAll(deadline);
  return ended_in_time_;
}

void Server::StopAll(absl::Time deadline) {
  if (stopped_) return;
  stopped_ = true;
  if (manager_ != nullptr) {
    const StopResult ended = manager_->Stop(deadline);
    if (!ended.all_answered) {
      LogWarning("exit timeout: some requests were answered UNAVAILABLE");
    }
    if (!ended.loads_ended) {
      LogWarning("exit timeout: a load or unload is still under way");
    }
    ended_in_time_ = ended.all_answered && ended.loads_ended;
  }
  if (front_ != nullptr) front_->Shutdown(clock_.Now() + kLastReplies);
  EndWatch();
  loading_.Join();
}

Server::~Server() { StopAll(clock_.Now()); }

}  // namespace reprise
