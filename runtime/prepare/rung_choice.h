// Which rungs of a ladder are worth having, and that all lanes have the same.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/tensor/ladder.h"
#include "runtime/tensor/shape.h"

namespace reprise {

// The indices of those rungs, ascending: the largest always, and each that is
// at least 2 % faster than every larger one that is kept. A rung without a time
// is kept, and says nothing of others.
std::vector<size_t> RungsWorthHaving(const Ladder& ladder);

// Takes all others out of the ladder, with a line of the log for each. Returns
// the indices of those that stay: see KeepOnly.
std::vector<size_t> DropSlowRungs(absl::string_view model, Ladder& ladder);

// Leaves of `all`, which has one for each rung of a ladder, those of the
// ascending indices `kept`.
template <typename T>
void KeepOnly(const std::vector<size_t>& kept, std::vector<T>& all) {
  std::vector<T> left;
  left.reserve(kept.size());
  for (const size_t i : kept) left.push_back(std::move(all[i]));
  all = std::move(left);
}

// What was chosen on the lane that a variant was prepared on first: the others
// follow, whatever their times. A variant's lanes are prepared one after the
// other, so that few choices need to be known.
//
// Threads: one at a time (LoadedModel::Prepare is).
class RungChoices {
 public:
  explicit RungChoices(size_t bound = 64) : bound_(bound) {}

  // The rows of the rungs that `ladder` has become, or null if it is new.
  // Valid until the next Keep.
  const std::vector<int>* Find(const Dims& dims,
                               const std::vector<int>& ladder) const;
  // Forgets the oldest choice when there are too many.
  void Keep(const Dims& dims, const std::vector<int>& ladder,
            std::vector<int> rows);

  size_t size() const { return choices_.size(); }

 private:
  struct Choice {
    Dims dims;
    std::vector<int> ladder;
    std::vector<int> rows;
  };

  const size_t bound_;
  std::deque<Choice> choices_;  // the oldest first
};

}  // namespace reprise
