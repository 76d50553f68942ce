#include "runtime/worker/rung_counts.h"

#include "absl/strings/str_cat.h"

namespace reprise {
namespace {

constexpr char kOther[] = "other";  // "n=3" and "" are the names of variants

}  // namespace

RungCounts::RungCounts(SeriesPool& pool,
                       prometheus::Family<prometheus::Counter>& batches,
                       prometheus::Family<prometheus::Histogram>& time,
                       prometheus::Labels model, std::vector<double> bounds)
    : pool_(pool),
      batches_(batches),
      time_(time),
      model_(std::move(model)),
      bounds_(std::move(bounds)) {}

RungCounts::Rung RungCounts::Of(const std::string& variant, int size,
                                int max_variants) {
  absl::MutexLock lock(&mu_);
  const bool named = named_.contains(variant) ||
                     (named_.size() < static_cast<size_t>(max_variants) &&
                      named_.insert(variant).second);
  const std::string name = named ? variant : kOther;
  const auto [entry, added] = counts_.try_emplace({name, size});
  Counts& counts = entry->second;
  if (added) {
    prometheus::Labels labels = model_;
    labels["variant"] = name;
    labels["size"] = absl::StrCat(size);
    counts.batches = pool_.Get(batches_, labels);
    counts.time = pool_.Get(time_, labels, bounds_);
  }
  return {.batches = counts.batches.operator->(),
          .time = counts.time.operator->()};
}

}  // namespace reprise
