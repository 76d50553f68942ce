#include "tests/conformance/onnx/suite_lists.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/base/status_macros.h"

namespace reprise {
namespace {

// Whether `text` is `pattern`, where each "*" stands for any characters.
bool Matches(absl::string_view pattern, absl::string_view text) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) return pattern == text;
  if (!absl::ConsumePrefix(&text, pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  for (size_t i = 0; i <= text.size(); ++i) {
    if (Matches(pattern, text.substr(i))) return true;
  }
  return false;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty() && line[0] != '#') lines.emplace_back(line);
  }
  return lines;
}

}  // namespace

absl::StatusOr<SuiteLists> SuiteLists::Parse(const std::string& allowed,
                                             const std::string& skipped) {
  SuiteLists lists;
  for (const std::string& name : Lines(allowed)) {
    if (!lists.allowed_.emplace(name, false).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " is allowed twice"));
    }
  }
  for (const std::string& line : Lines(skipped)) {
    REPRISE_RETURN_IF_ERROR(lists.AddRow(line));
  }
  return lists;
}

absl::Status SuiteLists::AddRow(const std::string& line) {
  const std::vector<std::string> fields = absl::StrSplit(line, " | ");
  bool whole = !fields.back().empty();
  for (const std::string& field : fields) whole = whole && !field.empty();
  absl::string_view first = fields[0];
  if (whole && fields.size() == 2 && absl::ConsumePrefix(&first, "operator ")) {
    for (const absl::string_view name :
         absl::StrSplit(first, ' ', absl::SkipEmpty())) {
      const bool qualified = absl::StrContains(name, "::");
      rows_.push_back(
          {.what = absl::StrCat("operator ", name),
           .pattern = "*",
           .refusal = absl::StrCat("unsupported operator ",
                                   qualified ? "" : "ai.onnx::", name),
           .at_end = true,
           .reason = fields[1]});
    }
    return absl::OkStatus();
  }
  if (whole && fields.size() == 3 && absl::ConsumePrefix(&first, "test ")) {
    rows_.push_back({.what = line,
                     .pattern = std::string(first),
                     .refusal = fields[1],
                     .reason = fields[2]});
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("no row: ", line));
}

std::string SuiteLists::Judge(const std::string& name,
                              const absl::Status& outcome) {
  if (const auto it = allowed_.find(name); it != allowed_.end()) {
    it->second = true;
    ++(outcome.ok() ? passed_ : failed_);
    return outcome.ok() ? "" : absl::StrCat(name, ": ", outcome.ToString());
  }
  if (outcome.ok()) {
    ++failed_;
    return absl::StrCat(name, " passes: it belongs into allowed.txt");
  }
  const absl::string_view message = outcome.message();
  for (Row& row : rows_) {
    const bool says = row.at_end ? absl::EndsWith(message, row.refusal)
                                 : absl::StrContains(message, row.refusal);
    const bool wrong = absl::IsInternal(outcome) && row.pattern[0] == '*';
    if (!says || wrong || !Matches(row.pattern, name)) continue;
    ++row.used;
    ++skipped_;
    return "";
  }
  ++failed_;
  return absl::StrCat(name, " does not pass, and skipped.txt has no reason: ",
                      outcome.ToString());
}

std::vector<std::string> SuiteLists::Unused() const {
  std::vector<std::string> unused;
  for (const auto& [name, seen] : allowed_) {
    if (!seen)
      unused.push_back(absl::StrCat(name, " is allowed but not there"));
  }
  for (const Row& row : rows_) {
    if (row.used == 0) {
      unused.push_back(absl::StrCat("nothing is skipped by: ", row.what));
    }
  }
  return unused;
}

std::string SuiteLists::Counts() const {
  return absl::StrCat("passed ", passed_, ", failed ", failed_, ", skipped ",
                      skipped_, " of ", passed_ + failed_ + skipped_);
}

std::string SuiteLists::Reasons() const {
  std::map<std::string, int> reasons;
  for (const Row& row : rows_) reasons[row.reason] += row.used;
  std::string text;
  for (const auto& [reason, count] : reasons) {
    absl::StrAppend(&text, "skipped ", count, ": ", reason, "\n");
  }
  return text;
}

}  // namespace reprise
