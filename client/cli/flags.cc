#include "client/cli/flags.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/utf8.h"

namespace reprise::client {
namespace {

constexpr size_t kHelpColumn = 30;
constexpr size_t kHelpWidth = 80;

absl::Status Bad(const std::string& text, const std::string& want) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not ", want));
}

// Insertions, deletions and replacements that make `b` of `a`.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j + 1] + 1, row[j] + 1});
    }
  }
  return row.back();
}

// `text` wrapped into the help's right-hand column.
std::string Wrapped(const std::string& text) {
  std::string out;
  size_t column = kHelpColumn;
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (column > kHelpColumn && column + 1 + word.size() > kHelpWidth) {
      absl::StrAppend(&out, "\n", std::string(kHelpColumn, ' '));
      column = kHelpColumn;
    }
    if (column > kHelpColumn) {
      out += ' ';
      ++column;
    }
    absl::StrAppend(&out, word);
    column += word.size();
  }
  return out;
}

std::string WithDefault(std::string help, const std::string& text) {
  if (!text.empty()) absl::StrAppend(&help, " (default ", text, ")");
  return help;
}

}  // namespace

void FlagTable::Group(std::string title) { group_ = std::move(title); }

void FlagTable::Add(std::string name, std::string value, std::string help,
                    Setter set) {
  flags_.push_back({std::move(name), std::move(value), std::move(help),
                    std::move(set), group_});
}

void FlagTable::Switch(std::string name, bool* target, std::string help) {
  Add(std::move(name), "", std::move(help), [target](const std::string& text) {
    if (text == "true" || text == "false") {
      *target = text == "true";
      return absl::OkStatus();
    }
    return Bad(text, "true or false");
  });
}

void FlagTable::Text(std::string name, std::string value, std::string* target,
                     std::string help) {
  Add(std::move(name), std::move(value), WithDefault(std::move(help), *target),
      [target](const std::string& text) {
        *target = text;
        return absl::OkStatus();
      });
}

void FlagTable::List(std::string name, std::string value,
                     std::vector<std::string>* target, std::string help) {
  absl::StrAppend(&help, " (may be repeated)");
  Add(std::move(name), std::move(value), std::move(help),
      [target](const std::string& text) {
        target->push_back(text);
        return absl::OkStatus();
      });
}

void FlagTable::RequireUtf8() {
  Flag& flag = flags_.back();
  flag.set = [set = std::move(flag.set)](const std::string& text) {
    const absl::Status status = CheckUtf8(text);
    return status.ok() ? set(text) : status;
  };
}

void FlagTable::SentText(std::string name, std::string value,
                         std::string* target, std::string help) {
  Text(std::move(name), std::move(value), target, std::move(help));
  RequireUtf8();
}

void FlagTable::SentList(std::string name, std::string value,
                         std::vector<std::string>* target, std::string help) {
  List(std::move(name), std::move(value), target, std::move(help));
  RequireUtf8();
}

void FlagTable::Count(std::string name, std::string value, int64_t* target,
                      std::string help, int64_t min) {
  const std::string shown = *target >= min ? absl::StrCat(*target) : "";
  Add(std::move(name), std::move(value), WithDefault(std::move(help), shown),
      [target, min](const std::string& text) {
        int64_t number = 0;
        if (!absl::SimpleAtoi(text, &number) || number < min) {
          return Bad(text, absl::StrCat("a whole number of ", min, " or more"));
        }
        *target = number;
        return absl::OkStatus();
      });
}

void FlagTable::Real(std::string name, std::string value, double* target,
                     std::string help) {
  Add(std::move(name), std::move(value),
      WithDefault(std::move(help), absl::StrCat(*target)),
      [target](const std::string& text) {
        return absl::SimpleAtod(text, target) ? absl::OkStatus()
                                              : Bad(text, "a number");
      });
}

void FlagTable::Time(std::string name, std::string value,
                     absl::Duration* target, std::string help) {
  AddTime(std::move(name), std::move(value), target, std::move(help), true);
}

void FlagTable::PositiveTime(std::string name, std::string value,
                             absl::Duration* target, std::string help) {
  AddTime(std::move(name), std::move(value), target, std::move(help), false);
}

void FlagTable::AddTime(std::string name, std::string value,
                        absl::Duration* target, std::string help,
                        bool zero_allowed) {
  const std::string shown =
      *target > absl::ZeroDuration() ? absl::FormatDuration(*target) : "";
  Add(std::move(name), std::move(value), WithDefault(std::move(help), shown),
      [target, zero_allowed](const std::string& text) {
        absl::Duration time;
        if (!absl::ParseDuration(text, &time) || time < absl::ZeroDuration()) {
          return Bad(text, "a time such as 500us, 10s or 1m30s");
        }
        if (!zero_allowed && time == absl::ZeroDuration()) {
          return Bad(text, "above zero");
        }
        *target = time;
        return absl::OkStatus();
      });
}

void FlagTable::Custom(std::string name, std::string value, std::string help,
                       Setter set) {
  Add(std::move(name), std::move(value), std::move(help), std::move(set));
}

absl::StatusOr<std::vector<std::string>> FlagTable::Parse(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<int64_t>(i) + 1,
                  arguments.end());
      break;
    }
    if (!absl::StartsWith(argument, "-") || argument == "-") {
      rest.push_back(argument);
      continue;
    }
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const bool has_value = absl::StrContains(argument, '=');
    Flag* flag = Find(parts.first);
    if (flag == nullptr) return Unknown(parts.first);
    std::string value = parts.second;
    if (!has_value && flag->value.empty()) value = "true";
    if (!has_value && !flag->value.empty()) {
      if (++i == arguments.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat(argument, " needs a value: ", flag->value));
      }
      value = arguments[i];
    }
    if (absl::Status status = flag->set(value); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag->name, ": ", status.message()));
    }
  }
  return rest;
}

FlagTable::Flag* FlagTable::Find(const std::string& name) {
  for (Flag& flag : flags_) {
    if (name == absl::StrCat("--", flag.name)) return &flag;
  }
  return nullptr;
}

absl::Status FlagTable::Unknown(const std::string& name) const {
  std::string nearest;
  size_t best = 3;  // farther than this is no typing error
  for (const Flag& flag : flags_) {
    const std::string known = absl::StrCat("--", flag.name);
    const size_t distance = EditDistance(name, known);
    if (distance < best) {
      best = distance;
      nearest = known;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown flag ", name, nearest.empty() ? "" : "; did you mean ", nearest,
      nearest.empty() ? "" : "?"));
}

std::string FlagTable::Help() const {
  std::string out;
  std::string group;
  for (const Flag& flag : flags_) {
    if (flag.group != group) {
      group = flag.group;
      absl::StrAppend(&out, out.empty() ? "" : "\n", group, ":\n");
    }
    std::string left = absl::StrCat("  --", flag.name,
                                    flag.value.empty() ? "" : " ", flag.value);
    if (left.size() + 2 > kHelpColumn) {
      absl::StrAppend(&out, left, "\n", std::string(kHelpColumn, ' '));
    } else {
      left.resize(kHelpColumn, ' ');
      absl::StrAppend(&out, left);
    }
    absl::StrAppend(&out, Wrapped(flag.help), "\n");
  }
  return out;
}

}  // namespace reprise::client
