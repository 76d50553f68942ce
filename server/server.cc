#include "server/server.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_device.h"
#include "server/status_page.h"

namespace reprise {
namespace {

// For replies that are on their way when the models have answered.
constexpr absl::Duration kLastReplies = absl::Seconds(2);

// Waits; nothing else can end it.
void Pause(Clock& clock, absl::Duration duration) {
  absl::Mutex mu;
  absl::MutexLock lock(&mu);
  const bool never = false;
  clock.Await(mu, absl::Condition(&never), clock.Now() + duration);
}

absl::Status CheckDevice(DeviceChoice choice) {
  switch (choice) {
    case DeviceChoice::kCuda:
      return absl::UnavailableError(
          "--device=cuda: this build has no CUDA device");
    case DeviceChoice::kAuto:
      LogWarning("no GPU can be used; models run on the CPU");
      break;
    case DeviceChoice::kCpu:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

std::string ProgramVersion() { return REPRISE_VERSION; }
std::string ProgramCommit() { return REPRISE_COMMIT; }

absl::StatusOr<std::unique_ptr<Device>> MakeDevice(const ServerOptions& options,
                                                   Clock& clock) {
  REPRISE_RETURN_IF_ERROR(CheckDevice(options.device));
  cpu::CpuDeviceOptions cpu;
  cpu.threads = options.cpu_threads;
  return cpu::MakeCpuDevice(cpu, clock);
}

absl::StatusOr<std::unique_ptr<Server>> Server::Create(
    const ServerOptions& options, Clock& clock, const DeviceWrapper& wrap) {
  auto server = absl::WrapUnique(new Server(options, clock));
  REPRISE_RETURN_IF_ERROR(server->MakeWorkers(wrap));
  REPRISE_RETURN_IF_ERROR(server->MakeFront());
  REPRISE_RETURN_IF_ERROR(server->MakePages());
  return server;
}

absl::Status Server::MakeWorkers(const DeviceWrapper& wrap) {
  prometheus::BuildGauge()
      .Name("reprise_build_info")
      .Help("The program; always 1")
      .Register(metrics_)
      .Add({{"version", ProgramVersion()},
            {"commit", ProgramCommit()},
            {"onednn", cpu::OneDnnVersion()},
            {"cuda", ""},
            {"cudnn", ""}})
      .Set(1);
  WorkerOptions worker;
  worker.watchdog = options_.watchdog;
  DeviceWorker::DeviceFactory factory = [this] {
    return MakeDevice(options_, clock_);
  };
  if (wrap != nullptr) factory = wrap(std::move(factory));
  REPRISE_ASSIGN_OR_RETURN(
      std::unique_ptr<DeviceWorker> made,
      DeviceWorker::Create(factory, worker, clock_, metrics_));
  workers_.push_back(std::move(made));
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
  pages.live = [] { return true; };
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
  loading_ = Thread("load-start", [this, loaded = std::move(loaded)] {
    loaded(manager_->LoadAtStart());
  });
}

bool Server::Drain() {
  front_->StartDraining();
  LogInfo(absl::StrCat(
      "draining lame_duck_seconds=", absl::ToDoubleSeconds(options_.lame_duck),
      " exit_timeout_seconds=", absl::ToDoubleSeconds(options_.exit_timeout)));
  Pause(clock_, options_.lame_duck);
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
  loading_.Join();
}

Server::~Server() { StopAll(clock_.Now()); }

}  // namespace reprise
