#include "runtime/prepare/rung_choice.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/log.h"

namespace reprise {
namespace {

// A rung must be this much faster than a larger one to be worth having.
constexpr double kWorthARung = 0.98;

}  // namespace

std::vector<size_t> RungsWorthHaving(const Ladder& ladder) {
  std::vector<size_t> kept;
  absl::Duration fastest = absl::InfiniteDuration();
  for (size_t i = ladder.size(); i-- > 0;) {
    const absl::Duration p50 = ladder[i].p50;
    const bool timed = p50 > absl::ZeroDuration();
    const bool first = fastest == absl::InfiniteDuration();
    if (timed && !first && p50 > fastest * kWorthARung) continue;
    kept.push_back(i);
    if (timed) fastest = p50;
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::vector<size_t> DropSlowRungs(absl::string_view model, Ladder& ladder) {
  std::vector<size_t> kept = RungsWorthHaving(ladder);
  for (size_t i = 0; i < ladder.size(); ++i) {
    if (std::binary_search(kept.begin(), kept.end(), i)) continue;
    LogVerbose(
        1, absl::StrCat("rung dropped: not faster than a larger one model=",
                        LogName(model), " rows=", ladder[i].rows,
                        " p50_us=", absl::ToDoubleMicroseconds(ladder[i].p50)));
  }
  KeepOnly(kept, ladder);
  return kept;
}

const std::vector<int>* RungChoices::Find(
    const Dims& dims, const std::vector<int>& ladder) const {
  for (const Choice& choice : choices_) {
    if (choice.dims == dims && choice.ladder == ladder) return &choice.rows;
  }
  return nullptr;
}

void RungChoices::Keep(const Dims& dims, const std::vector<int>& ladder,
                       std::vector<int> rows) {
  if (choices_.size() == bound_) choices_.pop_front();
  choices_.push_back({dims, ladder, std::move(rows)});
}

}  // namespace reprise
