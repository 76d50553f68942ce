#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/worker/worker_impl.h"

namespace reprise {
namespace {

// Dims that were refused are refused again without another attempt.
constexpr size_t kMaxFailed = 256;

}  // namespace

void WorkerImpl::RequestBuilds() {
  absl::MutexLock lock(&build_mu_);
  build_wanted_ = true;
}

void WorkerImpl::Build() {
  while (true) {
    {
      struct Wanted {
        const bool* build;
        const bool* quit;
        bool Eval() const { return *build || *quit; }
      } wanted{&build_wanted_, &build_quit_};
      absl::MutexLock lock(&build_mu_, absl::Condition(&wanted, &Wanted::Eval));
      if (build_quit_) return;
      build_wanted_ = false;
    }
    while (true) {
      Variant* variant = nullptr;
      bool wake = false;
      {
        absl::MutexLock lock(&mu_);
        variant = NextToBuild();
        if (!doomed_.empty()) wake = Notify();
      }
      WakeDevice(wake);
      if (variant == nullptr) break;
      BuildOne(*variant);
    }
  }
}

// The variant for which somebody has waited longest and for which there is
// room; forgets those for which nobody waits any more.
Variant* WorkerImpl::NextToBuild() {
  std::vector<Variant*> wanted;
  for (size_t i = 0; i < variants_.size();) {
    Variant* variant = variants_[i];
    const bool pending = !variant->ready() && !variant->building;
    if (pending && variant->queue.empty()) {
      Erase(*variant);
      continue;
    }
    if (pending && !variant->served.removing) wanted.push_back(variant);
    ++i;
  }
  std::sort(wanted.begin(), wanted.end(), [](Variant* a, Variant* b) {
    return a->queue.oldest() < b->queue.oldest();
  });
  room_wanted_ = false;
  for (Variant* variant : wanted) {
    if (!MakeRoom(variant->served)) {
      room_wanted_ = true;
      continue;
    }
    variant->building = true;
    variant->served.building = true;
    return variant;
  }
  return nullptr;
}

// At most max_variants of a model exist; the least recently used idle one that
// was made on demand leaves for a new one.
bool WorkerImpl::MakeRoom(Served& served) {
  int made = 0;
  Variant* oldest = nullptr;
  for (const std::unique_ptr<Variant>& variant : served.variants) {
    if (!variant->ready()) continue;
    ++made;
    const bool idle = variant->runs == 0 && variant->queue.empty();
    if (variant->pinned || !idle) continue;
    if (oldest == nullptr || variant->last_run < oldest->last_run) {
      oldest = variant.get();
    }
  }
  if (made < served.batch().max_variants) return true;
  if (oldest == nullptr) return false;
  doomed_.push_back({.metrics = std::move(oldest->metrics),
                     .executables = std::move(oldest->lanes),
                     .served = nullptr});
  Erase(*oldest);
  return true;
}

void WorkerImpl::Erase(Variant& variant) {
  std::erase(variants_, &variant);
  std::erase_if(variant.served.variants,
                [&](const std::unique_ptr<Variant>& other) {
                  return other.get() == &variant;
                });
}

bool WorkerImpl::NothingDoomed() const {
  return doomed_.empty() && !destroying_;
}

void WorkerImpl::BuildOne(Variant& variant) {
  Served& served = variant.served;
  {
    // What was evicted for it must be gone before memory is asked for.
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(this, &WorkerImpl::NothingDoomed));
  }
  const absl::Time begin = clock_.Now();
  std::vector<std::unique_ptr<Executable>> lanes;
  absl::Status status;
  for (int lane = 0; status.ok() && lane < served.lane_count; ++lane) {
    absl::StatusOr<std::unique_ptr<Executable>> made = served.loaded->Prepare(
        variant.key, served.model->config().ladder, lane);
    status = made.status();
    if (made.ok()) lanes.push_back(*std::move(made));
  }
  const std::string dims = VariantText(served.model->signature(), variant.key);
  std::unique_ptr<VariantMetrics> metrics;
  if (status.ok()) {
    metrics = std::make_unique<VariantMetrics>(metrics_, served.labels, dims,
                                               lanes.front()->ladder());
  }
  const absl::Duration took = clock_.Now() - begin;
  served.metrics.variant_seconds->Increment(absl::ToDoubleSeconds(took));
  LogInfo(absl::StrCat(status.ok() ? "variant made" : "variant refused",
                       " model=", served.model->name(), " dims=", dims,
                       " seconds=", absl::ToDoubleSeconds(took),
                       status.ok() ? "" : " reason=", status.message()));
  EndedTasks ended;
  bool wake = false;
  {
    absl::MutexLock lock(&mu_);
    variant.building = false;
    served.building = false;
    if (status.ok() && !served.removing) {
      variant.SetLadder(lanes.front()->ladder());
      variant.lanes = std::move(lanes);
      variant.metrics = std::move(metrics);
      variant.last_run = clock_.Now();
      served.metrics.variants_built->Increment();
    } else {
      doomed_.push_back({.metrics = std::move(metrics),
                         .executables = std::move(lanes),
                         .served = nullptr});
    }
    if (!status.ok()) Refuse(variant, status, ended);
    wake = Notify();
  }
  WakeDevice(wake);
  const int64_t answered = Answer(ended);
  absl::MutexLock lock(&mu_);
  accepted_ -= answered;
}

// Memory may be there another time; anything else is remembered.
void WorkerImpl::Refuse(Variant& variant, const absl::Status& status,
                        EndedTasks& ended) {
  Served& served = variant.served;
  const std::string dims = VariantText(served.model->signature(), variant.key);
  const absl::Status refused = absl::Status(
      status.code(),
      absl::StrCat("dims ", dims, " cannot be served: ", status.message(),
                   " (served are ", served.ReadyVariants(), ")"));
  if (!absl::IsResourceExhausted(status)) {
    if (served.failed.size() >= kMaxFailed) {
      served.failed.erase(served.failed.begin());
    }
    served.failed.push_back({variant.key, refused});
  }
  for (const Waiting& waiting : variant.queue.waiting()) {
    End(waiting, Annotate(refused, served.text), ended);
  }
  variant.queue.Clear();
  ShowQueue(served);
  Erase(variant);
}

}  // namespace reprise
