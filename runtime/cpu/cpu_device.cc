#include "runtime/cpu/cpu_device.h"

#include <sched.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/cpu_loaded_model.h"
#include "runtime/cpu/heap_slot_memory.h"
#include "runtime/cpu/host_memory.h"
#include "runtime/cpu/lane.h"
#include "runtime/cpu/onednn.h"
#include "runtime/prepare/slot_pool.h"

namespace reprise::cpu {
namespace {

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return CPU_COUNT(&set);
}

absl::Status Validate(const CpuDeviceOptions& options) {
  std::vector<std::string> faults;
  if (options.threads < 0) faults.emplace_back("threads is negative");
  if (options.slots_per_lane < 2) {
    faults.emplace_back("slots_per_lane is less than 2");
  }
  if (options.inline_below < absl::ZeroDuration()) {
    faults.emplace_back("inline_below is negative");
  }
  if (options.longest_trial <= absl::ZeroDuration()) {
    faults.emplace_back("longest_trial is not positive");
  }
  if (options.arena_reserve_bytes < 1) {
    faults.emplace_back("arena_reserve_bytes is not positive");
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("CPU device: ", absl::StrJoin(faults, "; ")));
}

class CpuDevice final : public Device {
 public:
  CpuDevice(const CpuDeviceOptions& options, Clock& clock)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : UsableCores()),
        clock_(clock),
        board_(clock) {}

  absl::StatusOr<std::unique_ptr<LoadedModel>> Load(
      std::shared_ptr<const graph::Graph> graph, const Signature& signature,
      const LoadOptions& options) override {
    if (options.precision != "fp32") {
      LogVerbose(1, absl::StrCat("the CPU computes in fp32 model=",
                                 LogName(options.model),
                                 " asked=", options.precision));
    }
    const ModelHost host{[this](int lane) { return LaneFor(lane); },
                         board_,
                         slots_,
                         clock_,
                         options_.inline_below,
                         options_.longest_trial,
                         threads_};
    auto model = CpuLoadedModel::Create(host, *graph, signature, options);
    if (!model.ok()) {
      return Annotate(model.status(), absl::StrCat("model ", options.model));
    }
    return std::unique_ptr<LoadedModel>(*std::move(model));
  }

  void Wake() override { board_.Wake(); }
  DeviceMemory memory() const override {
    DeviceMemory memory = HostMemory();
    memory.slots = slots_.bytes();
    return memory;
  }

 private:
  absl::StatusOr<Lane*> LaneFor(int index) ABSL_LOCKS_EXCLUDED(mu_) {
    if (index < 0) {
      return absl::InvalidArgumentError(absl::StrCat("lane ", index));
    }
    absl::MutexLock lock(&mu_);
    std::unique_ptr<Lane>& lane = lanes_[index];
    if (lane == nullptr) {
      absl::StatusOr<std::unique_ptr<Lane>> made =
          Lane::Create(index, options_.arena_reserve_bytes, board_, clock_);
      if (!made.ok()) {
        lanes_.erase(index);
        return made.status();
      }
      lane = *std::move(made);
      if (absl::Status added = slots_.Add(options_.slots_per_lane);
          !added.ok()) {
        lanes_.erase(index);
        return added;
      }
    }
    return lane.get();
  }

  const CpuDeviceOptions options_;
  const int threads_;
  Clock& clock_;
  RunBoard board_;
  SlotPool slots_{AllocateOnHeap};

  absl::Mutex mu_;
  std::map<int, std::unique_ptr<Lane>> lanes_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> MakeCpuDevice(
    const CpuDeviceOptions& options, Clock& clock) {
  REPRISE_RETURN_IF_ERROR(Validate(options));
  return std::make_unique<CpuDevice>(options, clock);
}

std::string OneDnnVersion() { return OneDnn::Version(); }

}  // namespace reprise::cpu
