#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/device/fault.h"
#include "runtime/worker/worker_impl.h"

namespace reprise {

VariantBuilder::Job WorkerImpl::NextBuild() {
  VariantBuilder::Job job;
  WakeUp wake = WakeUp::kNone;
  std::vector<std::string> evicted;
  {
    absl::MutexLock lock(&mu_);
    job.variant = variants_.NextToBuild(stopping_, to_destroy_);
    evicted = variants_.TakeEvicted();
    if (!to_destroy_.empty()) wake = Notify();
  }
  Wake(wake);
  for (const std::string& variant : evicted) {
    LogInfo(absl::StrCat("variant evicted ", variant));
  }
  if (job.variant == nullptr) return job;
  // What was evicted for it must be gone before memory is asked for.
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(this, &WorkerImpl::NothingToDestroy));
  job.plan = VariantTable::Plan(*job.variant);
  return job;
}

void WorkerImpl::Built(const VariantBuilder::Job& job,
                       const absl::Status& status, Prepared made) {
  if (IsDeviceFault(status)) Lose(status);
  Variant& variant = *job.variant;
  Served& served = variant.served;
  const int64_t weight_bytes = served.loaded->weight_bytes();
  EndedTasks ended;
  WakeUp wake = WakeUp::kNone;
  {
    absl::MutexLock lock(&mu_);
    served.weight_bytes = weight_bytes;
    if (status.ok()) {
      VariantTable::Publish(variant, job.plan, std::move(made), clock_.Now(),
                            to_destroy_);
    } else {
      to_destroy_.Add(std::move(made));
      std::vector<Waiting> refused;
      const absl::Status why =
          Annotate(variants_.Refuse(variant, status, refused), served.text);
      for (const Waiting& waiting : refused) End(waiting, why, ended);
      ShowQueue(served);
    }
    wake = Notify();
  }
  Wake(wake);
  const int64_t answered = Answer(ended);
  {
    absl::MutexLock lock(&mu_);
    accepted_ -= answered;
  }
  ShowMemory();
}

bool WorkerImpl::OnDevice(const Variant& variant) const {
  const auto of = [&](const BatchRun* run) {
    return run != nullptr && run->variant == &variant;
  };
  return of(gathering_) ||
         std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
           return of(lane.staged) ||
                  std::any_of(lane.running.begin(), lane.running.end(), of);
         });
}

// The whole ladder of a variant of which one rung was prepared. Its batches
// know their rung by its number: none of them may be on the device.
void WorkerImpl::TakeOver(Variant& variant) {
  Prepared old{.lanes = std::move(variant.lanes),
               .metrics = std::move(variant.metrics)};
  if (variant.runs > 0) {  // they are still being answered
    variant.retired = std::exchange(old.lanes, {});
    variant.retired_runs = variant.runs;
  }
  to_destroy_.Add(std::move(old));
  variant.lanes = std::move(variant.next.lanes);
  variant.metrics = std::move(variant.next.metrics);
  variant.next = {};
  variant.SetLadder(variant.lanes.front()->ladder());
}

// The last batch that ran on executables that were replaced takes them along.
void WorkerImpl::LeaveRetired(const BatchRun& run) {
  Variant& variant = *run.variant;
  const bool retired =
      std::any_of(variant.retired.begin(), variant.retired.end(),
                  [&](const std::unique_ptr<Executable>& one) {
                    return one.get() == run.executable;
                  });
  if (!retired || --variant.retired_runs > 0) return;
  to_destroy_.Add(
      {.lanes = std::exchange(variant.retired, {}), .metrics = nullptr});
}

// What has been taken out of use, without the lock.
void WorkerImpl::DestroyCollected() {
  DestroyList::Items items;
  {
    absl::MutexLock lock(&mu_);
    if (to_destroy_.empty()) return;
    items = to_destroy_.Take();
  }
  const std::vector<bool*> removed = DestroyList::Destroy(std::move(items));
  absl::MutexLock lock(&mu_);
  to_destroy_.Finish(removed);
}

// The arena of a lane is as large as its largest executable needs.
void WorkerImpl::ShowMemory() {
  const DeviceMemory memory = device_->memory();
  int64_t weights = 0;
  int graphs = 0;
  std::vector<int64_t> arenas;
  std::vector<int64_t> live;
  absl::MutexLock lock(&mu_);
  for (const auto& [uid, served] : models_) weights += served->weight_bytes;
  for (const Variant* variant : variants_.all()) {
    for (const auto* lanes : {&variant->lanes, &variant->next.lanes}) {
      arenas.resize(std::max(arenas.size(), lanes->size()));
      live.resize(arenas.size());
      for (size_t i = 0; i < lanes->size(); ++i) {
        arenas[i] = std::max(arenas[i], (*lanes)[i]->arena_bytes());
        live[i] = std::max(live[i], (*lanes)[i]->live_bytes());
        graphs += (*lanes)[i]->captured_graphs();
      }
    }
  }
  metrics_.weight_bytes->Set(static_cast<double>(weights));
  metrics_.arena_bytes->Set(static_cast<double>(
      std::accumulate(arenas.begin(), arenas.end(), int64_t{0})));
  metrics_.live_bytes->Set(static_cast<double>(
      std::accumulate(live.begin(), live.end(), int64_t{0})));
  metrics_.pinned_bytes->Set(static_cast<double>(memory.slots));
  if (!device_metrics_.has_value()) return;
  device_metrics_->SetGraphs(graphs);
  device_metrics_->SetMemory(memory);
}

}  // namespace reprise
