#include "runtime/worker/variant_table.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

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

// Takes away all that is prepared of a variant that nothing runs on.
void ReleaseExecutables(Variant& variant, DestroyList& released) {
  released.Add({.lanes = std::exchange(variant.lanes, {}),
                .metrics = std::move(variant.metrics)});
  if (!variant.next.lanes.empty()) {
    released.Add(std::exchange(variant.next, {}));
  }
  variant.ladder.clear();
  variant.partial = false;
  variant.rest = absl::OkStatus();
}

// The variant goes on with the rung that it has.
absl::Status RefuseRest(Variant& variant, const absl::Status& why,
                        std::vector<Waiting>& refused) {
  variant.partial = false;
  variant.rest = absl::Status(
      why.code(),
      absl::StrCat("dims ",
                   VariantText(variant.served.model->signature(), variant.key),
                   " cannot be served with more than ",
                   variant.ladder.back().rows, " rows: ", why.message()));
  std::vector<InferTask*> larger;
  for (const Waiting& waiting : variant.queue.waiting()) {
    if (!variant.HasRoom(waiting.rows)) larger.push_back(waiting.task);
  }
  for (const InferTask* task : larger) {
    refused.push_back(*variant.queue.Remove(*task));
  }
  return variant.rest;
}

}  // namespace

void VariantTable::AddAll(const Served& served) {
  for (const std::unique_ptr<Variant>& variant : served.variants) {
    variants_.push_back(variant.get());
  }
}

void VariantTable::RemoveAll(const Served& served) {
  std::erase_if(variants_, [&](const Variant* variant) {
    return &variant->served == &served;
  });
}

absl::StatusOr<Variant*> VariantTable::FindOrAdd(Served& served,
                                                 const VariantKey& key) {
  if (Variant* variant = served.Find(key); variant != nullptr) return variant;
  REPRISE_RETURN_IF_ERROR(CheckDims(*served.model, key));
  const auto failed = std::find_if(
      served.failed.begin(), served.failed.end(),
      [&](const FailedVariant& other) { return other.key == key; });
  if (failed != served.failed.end()) return failed->status;
  const auto pinned = std::count_if(
      served.variants.begin(), served.variants.end(),
      [](const std::unique_ptr<Variant>& variant) { return variant->pinned; });
  if (pinned >= served.batch().max_variants) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dims ", VariantText(served.model->signature(), key),
        " are not served: max_variants is ", served.batch().max_variants,
        ", and all are configured: ", served.ReadyVariants()));
  }
  Variant& variant = served.AddVariant(key);
  variants_.push_back(&variant);
  return &variant;
}

// The variant for which somebody has waited longest and for which there is
// room; forgets those for which nobody waits any more. Without one, a variant
// that has only the rung that was needed first.
Variant* VariantTable::NextToBuild(bool draining, DestroyList& evicted) {
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
    if (variant->ready() || MakeRoom(*variant, evicted)) {
      next = variant;
      break;
    }
    room_wanted_ = true;
  }
  if (next == nullptr && !draining) next = partial;
  if (next != nullptr) next->building = next->served.building = true;
  return next;
}

// At most max_variants of a model exist; the least recently used idle one that
// was made on demand leaves for a new one. Where replies keep the order of
// arrival, one whose requests all came after those that `wanted` is for cannot
// run before it: it leaves too, the one that is needed last, and its requests
// wait until it is made again.
bool VariantTable::MakeRoom(const Variant& wanted, DestroyList& evicted) {
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
    Evict(*idle, evicted);
    Erase(*idle);
    return true;
  }
  if (later != nullptr) Evict(*later, evicted);
  return later != nullptr;
}

void VariantTable::Evict(Variant& variant, DestroyList& evicted) {
  const ModelVersion& model = *variant.served.model;
  evicted_.push_back(absl::StrCat(
      "model=", LogName(model.name()),
      " dims=", LogName(VariantText(model.signature(), variant.key))));
  ReleaseExecutables(variant, evicted);
}

void VariantTable::Erase(Variant& variant) {
  std::erase(variants_, &variant);
  std::erase_if(variant.served.variants,
                [&](const std::unique_ptr<Variant>& other) {
                  return other.get() == &variant;
                });
}

// First the rung that the largest waiting request needs, on one lane, so that
// it is answered soon; then the whole ladder on all lanes.
BuildPlan VariantTable::Plan(const Variant& variant) {
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

void VariantTable::Publish(Variant& variant, const BuildPlan& plan,
                           Prepared made, absl::Time now,
                           DestroyList& discarded) {
  variant.building = variant.served.building = false;
  if (variant.served.removing) {
    discarded.Add(std::move(made));
    return;
  }
  variant.partial = plan.partial;
  variant.rest = absl::OkStatus();
  if (variant.ready()) {
    variant.next = std::move(made);
    return;
  }
  variant.SetLadder(made.lanes.front()->ladder());
  variant.lanes = std::move(made.lanes);
  variant.metrics = std::move(made.metrics);
  variant.last_run = now;
  variant.served.metrics.variants_built->Increment();
}

// Memory may be there another time; anything else is remembered.
absl::Status VariantTable::Refuse(Variant& variant, const absl::Status& why,
                                  std::vector<Waiting>& refused) {
  Served& served = variant.served;
  variant.building = served.building = false;
  if (variant.ready()) return RefuseRest(variant, why, refused);
  absl::Status status(
      why.code(),
      absl::StrCat("dims ", VariantText(served.model->signature(), variant.key),
                   " cannot be served: ", why.message(), " (served are ",
                   served.ReadyVariants(), ")"));
  if (!absl::IsResourceExhausted(why)) {
    if (served.failed.size() >= kMaxFailed) {
      served.failed.erase(served.failed.begin());
    }
    served.failed.push_back({variant.key, status});
  }
  const std::span<const Waiting> waiting = variant.queue.waiting();
  refused.insert(refused.end(), waiting.begin(), waiting.end());
  variant.queue.Clear();
  Erase(variant);
  return status;
}

// Memory may be there by now; what failed otherwise fails again.
absl::Status VariantTable::WantRungs(Variant& variant, int rows, bool& build) {
  if (variant.partial || !variant.next.lanes.empty()) return absl::OkStatus();
  if (variant.rest.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("request has a batch of ",
                                                   rows, ", the maximum is ",
                                                   variant.ladder.back().rows));
  }
  if (!absl::IsResourceExhausted(variant.rest)) return variant.rest;
  variant.partial = true;
  build = true;
  return absl::OkStatus();
}

}  // namespace reprise
