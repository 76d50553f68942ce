#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/worker/worker_impl.h"

namespace reprise {
namespace {

// Dims that were refused are refused again without another attempt.
constexpr size_t kMaxFailed = 256;

// INVALID_ARGUMENT unless the values are as many as the free dims, and each
// in the range that the configuration gives. Without one a dim may be 0: the
// tensor is then empty.
absl::Status CheckDims(const ModelVersion& model, const VariantKey& key) {
  const std::vector<std::string>& symbols = model.signature().free_symbols;
  if (key.size() != symbols.size()) {
    return absl::InvalidArgumentError(absl::StrCat("request binds ", key.size(),
                                                   " free dims, the model has ",
                                                   symbols.size()));
  }
  for (size_t i = 0; i < key.size(); ++i) {
    const auto range = model.config().dims.find(symbols[i]);
    const DimRange allowed =
        range == model.config().dims.end() ? DimRange{.low = 0} : range->second;
    if (key[i] < allowed.low || key[i] > allowed.high) {
      return absl::InvalidArgumentError(absl::StrCat(
          "dim '", symbols[i], "' is ", key[i], ", served are ", allowed.low,
          allowed.high == std::numeric_limits<int64_t>::max()
              ? " and more"
              : absl::StrCat(" to ", allowed.high)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

// The variant of `task`, or a new one that is to be made.
absl::StatusOr<Variant*> WorkerImpl::VariantFor(Served& served,
                                                const InferTask& task) {
  if (Variant* variant = served.Find(task.variant); variant != nullptr) {
    return variant;
  }
  REPRISE_RETURN_IF_ERROR(CheckDims(*served.model, task.variant));
  const auto failed = std::find_if(
      served.failed.begin(), served.failed.end(),
      [&](const FailedVariant& other) { return other.key == task.variant; });
  if (failed != served.failed.end()) return failed->status;
  const auto pinned = std::count_if(
      served.variants.begin(), served.variants.end(),
      [](const std::unique_ptr<Variant>& variant) { return variant->pinned; });
  if (pinned >= served.batch().max_variants) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dims ", VariantText(served.model->signature(), task.variant),
        " are not served: max_variants is ", served.batch().max_variants,
        ", and all are configured: ", served.ReadyVariants()));
  }
  Variant& variant = served.AddVariant(task.variant);
  variants_.push_back(&variant);
  return &variant;
}

void WorkerImpl::RequestBuilds() {
  absl::MutexLock lock(&build_mu_);
  build_wanted_ = true;
}

bool WorkerImpl::BuildsEnd() {
  absl::MutexLock lock(&build_mu_);
  return build_quit_;
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
    while (!BuildsEnd()) {
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
// room; forgets those for which nobody waits any more. Without one, a variant
// that has only the rung that was needed first.
Variant* WorkerImpl::NextToBuild() {
  std::vector<Variant*> wanted;
  Variant* partial = nullptr;
  for (size_t i = 0; i < variants_.size();) {
    Variant* variant = variants_[i];
    if (!variant->ready() && !variant->building && variant->queue.empty()) {
      Erase(*variant);
      continue;
    }
    ++i;
    if (variant->building || variant->served.removing) continue;
    if (variant->partial) partial = variant;
    const bool pending = !variant->ready();
    if (pending || (variant->partial && variant->WantsRungs())) {
      wanted.push_back(variant);
    }
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](Variant* a, Variant* b) {
    return a->queue.oldest() < b->queue.oldest();
  });
  room_wanted_ = false;
  Variant* next = nullptr;
  for (Variant* variant : wanted) {
    if (variant->ready() || MakeRoom(*variant)) {
      next = variant;
      break;
    }
    room_wanted_ = true;
  }
  if (next == nullptr && !stopping_) next = partial;
  if (next != nullptr) next->building = next->served.building = true;
  return next;
}

// At most max_variants of a model exist; the least recently used idle one that
// was made on demand leaves for a new one. Where replies keep the order of
// arrival, one whose requests all came after those that `wanted` is for cannot
// run before it: it leaves too, the one that is needed last, and its requests
// wait until it is made again.
bool WorkerImpl::MakeRoom(const Variant& wanted) {
  Served& served = wanted.served;
  int made = 0;
  Variant* idle = nullptr;
  Variant* later = nullptr;
  const auto first = [](const Variant& variant) {
    return variant.queue.waiting().front().sequence;
  };
  for (const std::unique_ptr<Variant>& variant : served.variants) {
    if (!variant->ready()) continue;
    ++made;
    if (variant->pinned || variant->runs > 0) continue;
    if (variant->queue.empty()) {
      if (idle == nullptr || variant->last_run < idle->last_run) {
        idle = variant.get();
      }
    } else if (served.batch().preserve_ordering &&
               first(*variant) > first(wanted) &&
               (later == nullptr || first(*variant) > first(*later))) {
      later = variant.get();
    }
  }
  if (made < served.batch().max_variants) return true;
  if (idle != nullptr) {
    Strip(*idle);
    Erase(*idle);
    return true;
  }
  if (later != nullptr) Strip(*later);
  return later != nullptr;
}

// Takes away all that is prepared of a variant that nothing runs on.
void WorkerImpl::Strip(Variant& variant) {
  Doom({.lanes = std::exchange(variant.lanes, {}),
        .metrics = std::move(variant.metrics)});
  if (!variant.next.lanes.empty()) Doom(std::exchange(variant.next, {}));
  variant.ladder.clear();
  variant.partial = false;
  variant.rest = absl::OkStatus();
}

void WorkerImpl::Doom(Prepared prepared) {
  doomed_.push_back({.prepared = std::move(prepared), .served = nullptr});
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

// First the rung that the largest waiting request needs, on one lane, so that
// it is answered soon; then the whole ladder on all lanes.
WorkerImpl::BuildPlan WorkerImpl::PlanBuild(const Variant& variant) const {
  const std::vector<int>& ladder = variant.served.model->config().ladder;
  if (variant.ready() || ladder.size() < 2) {
    return {.sizes = ladder, .lanes = variant.served.lane_count};
  }
  int rows = 1;
  for (const Waiting& waiting : variant.queue.waiting()) {
    rows = std::max(rows, waiting.rows);
  }
  const auto rung = std::lower_bound(ladder.begin(), ladder.end() - 1, rows);
  return {.sizes = {*rung}, .lanes = 1, .partial = true};
}

absl::Status WorkerImpl::Prepare(const Variant& variant, const BuildPlan& plan,
                                 Prepared& made) {
  Served& served = variant.served;
  for (int lane = 0; lane < plan.lanes; ++lane) {
    REPRISE_ASSIGN_OR_RETURN(
        std::unique_ptr<Executable> executable,
        served.loaded->Prepare(variant.key, plan.sizes, lane));
    made.lanes.push_back(std::move(executable));
  }
  made.metrics = std::make_unique<VariantMetrics>(
      metrics_, served.labels,
      VariantText(served.model->signature(), variant.key),
      made.lanes.front()->ladder());
  return absl::OkStatus();
}

void WorkerImpl::BuildOne(Variant& variant) {
  Served& served = variant.served;
  BuildPlan plan;
  {
    // What was evicted for it must be gone before memory is asked for.
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(this, &WorkerImpl::NothingDoomed));
    plan = PlanBuild(variant);
  }
  const absl::Time begin = clock_.Now();
  Prepared made;
  const absl::Status status = Prepare(variant, plan, made);
  const int64_t weight_bytes = served.loaded->weight_bytes();
  const absl::Duration took = clock_.Now() - begin;
  served.metrics.variant_seconds->Increment(absl::ToDoubleSeconds(took));
  LogInfo(absl::StrCat(
      status.ok() ? "variant made" : "variant refused",
      " model=", served.model->name(),
      " dims=", VariantText(served.model->signature(), variant.key), " sizes=",
      absl::StrJoin(plan.sizes, ","), " seconds=", absl::ToDoubleSeconds(took),
      status.ok() ? "" : absl::StrCat(" reason=\"", status.message(), "\"")));
  EndedTasks ended;
  bool wake = false;
  {
    absl::MutexLock lock(&mu_);
    variant.building = served.building = false;
    served.weight_bytes = weight_bytes;
    if (status.ok() && !served.removing) {
      Publish(variant, plan, std::move(made));
    } else {
      Doom(std::move(made));
    }
    if (!status.ok() && variant.ready()) {
      RefuseRest(variant, status, ended);
    } else if (!status.ok()) {
      Refuse(variant, status, ended);
    }
    wake = Notify();
  }
  WakeDevice(wake);
  const int64_t answered = Answer(ended);
  {
    absl::MutexLock lock(&mu_);
    accepted_ -= answered;
  }
  ShowMemory();
}

void WorkerImpl::Publish(Variant& variant, const BuildPlan& plan,
                         Prepared made) {
  variant.partial = plan.partial;
  variant.rest = absl::OkStatus();
  if (variant.ready()) {
    variant.next = std::move(made);
    return;
  }
  variant.SetLadder(made.lanes.front()->ladder());
  variant.lanes = std::move(made.lanes);
  variant.metrics = std::move(made.metrics);
  variant.last_run = clock_.Now();
  variant.served.metrics.variants_built->Increment();
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

// The variant goes on with the rung that it has.
void WorkerImpl::RefuseRest(Variant& variant, const absl::Status& status,
                            EndedTasks& ended) {
  Served& served = variant.served;
  variant.partial = false;
  variant.rest = absl::Status(
      status.code(),
      absl::StrCat("dims ", VariantText(served.model->signature(), variant.key),
                   " cannot be served with more than ",
                   variant.ladder.back().rows, " rows: ", status.message()));
  std::vector<InferTask*> larger;
  for (const Waiting& waiting : variant.queue.waiting()) {
    if (!variant.HasRoom(waiting.rows)) larger.push_back(waiting.task);
  }
  for (const InferTask* task : larger) {
    End(*variant.queue.Remove(*task), Annotate(variant.rest, served.text),
        ended);
  }
  ShowQueue(served);
}

// Memory may be there by now; what failed otherwise fails again.
absl::Status WorkerImpl::WantRungs(Variant& variant, int rows,
                                   Effects& effects) {
  if (variant.partial || !variant.next.lanes.empty()) return absl::OkStatus();
  if (variant.rest.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("request has a batch of ",
                                                   rows, ", the maximum is ",
                                                   variant.ladder.back().rows));
  }
  if (!absl::IsResourceExhausted(variant.rest)) return variant.rest;
  variant.partial = true;
  effects.build = true;
  return absl::OkStatus();
}

// The arena of a lane is as large as its largest executable needs.
void WorkerImpl::ShowMemory() {
  const int64_t slots = device_->memory().slots;
  int64_t weights = 0;
  std::vector<int64_t> arenas;
  absl::MutexLock lock(&mu_);
  for (const auto& [uid, served] : models_) weights += served->weight_bytes;
  for (const Variant* variant : variants_) {
    for (const auto* lanes : {&variant->lanes, &variant->next.lanes}) {
      arenas.resize(std::max(arenas.size(), lanes->size()));
      for (size_t i = 0; i < lanes->size(); ++i) {
        arenas[i] = std::max(arenas[i], (*lanes)[i]->arena_bytes());
      }
    }
  }
  metrics_.weight_bytes->Set(static_cast<double>(weights));
  metrics_.arena_bytes->Set(static_cast<double>(
      std::accumulate(arenas.begin(), arenas.end(), int64_t{0})));
  metrics_.pinned_bytes->Set(static_cast<double>(slots));
}

}  // namespace reprise
