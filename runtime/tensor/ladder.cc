#include "runtime/tensor/ladder.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"

namespace reprise {

std::vector<int> DefaultLadder(int max_batch) {
  std::vector<int> sizes;
  for (int rows = 1; rows < max_batch && rows > 0; rows *= 2) {
    sizes.push_back(rows);
    const int between = rows + rows / 2;
    if (rows >= 8 && between < max_batch) sizes.push_back(between);
  }
  sizes.push_back(max_batch);
  return sizes;
}

absl::StatusOr<std::vector<int>> ConfiguredLadder(std::vector<int> sizes,
                                                  int max_batch) {
  for (const int rows : sizes) {
    if (rows < 1 || rows > max_batch) {
      return absl::InvalidArgumentError(
          absl::StrCat("batch size ", rows, " is not in [1, ", max_batch, "]"));
    }
  }
  sizes.push_back(1);
  sizes.push_back(max_batch);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

int RungFor(const Ladder& ladder, int rows) {
  for (size_t i = 0; i < ladder.size(); ++i) {
    if (ladder[i].rows >= rows) return static_cast<int>(i);
  }
  return -1;
}

std::string LadderText(const std::vector<int>& asked, const Ladder& prepared) {
  std::vector<int> rungs;
  for (const Rung& rung : prepared) rungs.push_back(rung.rows);
  std::vector<int> dropped;
  std::set_difference(asked.begin(), asked.end(), rungs.begin(), rungs.end(),
                      std::back_inserter(dropped));
  // In quotes, so that a list of one is no number.
  const auto list = [](const std::vector<int>& rows) {
    return LogValue(absl::StrJoin(rows, ","));
  };
  return absl::StrCat(
      "ladder=", list(rungs),
      dropped.empty() ? "" : absl::StrCat(" dropped=", list(dropped)));
}

}  // namespace reprise
