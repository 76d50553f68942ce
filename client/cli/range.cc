#include "client/cli/range.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reprise::client {

absl::StatusOr<std::vector<int64_t>> ParseRange(const std::string& text) {
  constexpr int64_t kMaxValues = 1000;
  std::vector<int64_t> parts;
  for (absl::string_view part : absl::StrSplit(text, ':')) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number) || number < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" is not N, FROM:TO or FROM:TO:STEP"));
    }
    parts.push_back(number);
  }
  const int64_t from = parts[0];
  const int64_t to = parts.size() > 1 ? parts[1] : from;
  const int64_t step = parts.size() > 2 ? parts[2] : 1;
  if (parts.size() > 3 || to < from || (to - from) / step >= kMaxValues) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is no ascending range of at most 1000 values"));
  }
  std::vector<int64_t> values;
  for (int64_t value = from; value <= to; value += step) {
    values.push_back(value);
  }
  return values;
}

}  // namespace reprise::client
