#include "runtime/worker/busy_time.h"

#include <algorithm>

namespace reprise {

absl::Duration BusyTime::Add(absl::Duration begin, absl::Duration end) {
  if (end <= begin) return absl::ZeroDuration();
  // The stretches that it touches become one with it.
  const auto first = std::lower_bound(
      stretches_.begin(), stretches_.end(), begin,
      [](const Stretch& of, absl::Duration at) { return of.end < at; });
  auto last = first;
  absl::Duration fresh = end - begin;
  Stretch whole{begin, end};
  for (; last != stretches_.end() && last->begin <= end; ++last) {
    fresh -= std::min(last->end, end) - std::max(last->begin, begin);
    whole.begin = std::min(whole.begin, last->begin);
    whole.end = std::max(whole.end, last->end);
  }
  if (first == last) {
    stretches_.insert(first, whole);
  } else {
    *first = whole;
    stretches_.erase(first + 1, last);
  }
  if (stretches_.size() > kRemembered) {
    stretches_[1].begin = stretches_[0].begin;
    stretches_.erase(stretches_.begin());
  }
  return fresh;
}

}  // namespace reprise
