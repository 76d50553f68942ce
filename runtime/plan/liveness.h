// From which step to which the bytes of a buffer matter.
#pragma once

#include <vector>

#include "runtime/plan/plan.h"

namespace reprise::plan {

// Indices of the first and the last step that touch a buffer or a view of it;
// both included. `first` is -1 if nothing does.
struct Life {
  int first = -1;
  int last = -1;
  bool Overlaps(const Life& other) const {
    return first >= 0 && other.first >= 0 && first <= other.last &&
           other.first <= last;
  }
};

// One for each buffer of `plan`. Aliases carry the life of their root, which
// spans the uses of all its views.
std::vector<Life> Lives(const Plan& plan);

}  // namespace reprise::plan
