#include "client/cli/range.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reprise::client {
namespace {

constexpr int64_t kMaxValues = 1000;

bool ParseNumber(absl::string_view text, int64_t* number) {
  return absl::SimpleAtoi(text, number) && *number >= 1;
}

// At most 1e12: no infinity, and no loss when steps are counted.
bool ParseNumber(absl::string_view text, double* number) {
  return absl::SimpleAtod(text, number) && *number > 0 && *number <= 1e12;
}

// How many steps fit between the ends.
int64_t StepsBetween(int64_t from, int64_t to, int64_t step) {
  return (to - from) / step;
}

// Ends that are met but for rounding are met.
int64_t StepsBetween(double from, double to, double step) {
  const double steps = (to - from) / step + 1e-6;
  return steps < kMaxValues ? static_cast<int64_t>(steps) : kMaxValues;
}

template <typename Number>
absl::StatusOr<std::vector<Number>> Parse(const std::string& text) {
  std::vector<Number> parts;
  for (const absl::string_view part : absl::StrSplit(text, ':')) {
    Number number = 0;
    if (!ParseNumber(part, &number)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" is not N, FROM:TO or FROM:TO:STEP"));
    }
    parts.push_back(number);
  }
  const Number from = parts[0];
  const Number to = parts.size() > 1 ? parts[1] : from;
  const Number step = parts.size() > 2 ? parts[2] : 1;
  if (parts.size() > 3 || to < from ||
      StepsBetween(from, to, step) >= kMaxValues) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is no ascending range of at most 1000 values"));
  }
  std::vector<Number> values;
  for (int64_t i = 0; i <= StepsBetween(from, to, step); ++i) {
    values.push_back(from + static_cast<Number>(i) * step);
  }
  return values;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ParseRange(const std::string& text) {
  return Parse<int64_t>(text);
}

absl::StatusOr<std::vector<double>> ParseRealRange(const std::string& text) {
  return Parse<double>(text);
}

}  // namespace reprise::client
