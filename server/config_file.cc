#include "server/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"

namespace reprise {
namespace {

std::string FlagName(absl::string_view name) {
  name = absl::StripPrefix(absl::StripAsciiWhitespace(name), "--");
  std::string flag(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

// Without the quotes that YAML would allow around it.
std::string Unquoted(absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
      value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  return std::string(value);
}

absl::StatusOr<Settings> ParseLines(absl::string_view text) {
  Settings settings;
  std::vector<std::string> faults;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const size_t comment = line.find(" #");
    line = absl::StripAsciiWhitespace(line.substr(0, comment));
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos || colon == 0) {
      faults.push_back(
          absl::StrCat("line ", number, ": expected 'flag: value'"));
      continue;
    }
    settings.emplace_back(FlagName(line.substr(0, colon)),
                          Unquoted(line.substr(colon + 1)));
  }
  if (faults.empty()) return settings;
  return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

using Json = nlohmann::json;

bool AddValue(const std::string& flag, const Json& value, Settings* settings) {
  if (value.is_string()) {
    settings->emplace_back(flag, value.get<std::string>());
  } else if (value.is_boolean() || value.is_number()) {
    settings->emplace_back(flag, value.dump());
  } else {
    return false;
  }
  return true;
}

absl::StatusOr<Settings> ParseJson(absl::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError("not a JSON object");
  }
  Settings settings;
  std::vector<std::string> faults;
  for (const auto& [key, value] : json.items()) {
    const std::string flag = FlagName(key);
    bool ok = true;
    if (value.is_array()) {
      for (const Json& element : value) {
        ok = ok && AddValue(flag, element, &settings);
      }
    } else {
      ok = AddValue(flag, value, &settings);
    }
    if (!ok) {
      faults.push_back(absl::StrCat(
          key, ": expected a string, a number, true, false, or a list"));
    }
  }
  if (faults.empty()) return settings;
  return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

}  // namespace

absl::StatusOr<Settings> ParseConfig(absl::string_view text) {
  const absl::string_view begin = absl::StripLeadingAsciiWhitespace(text);
  return absl::StartsWith(begin, "{") ? ParseJson(text) : ParseLines(text);
}

absl::StatusOr<Settings> ReadConfigFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.good()) text << file.rdbuf();
  if (errno != 0) {
    return absl::NotFoundError(
        absl::StrCat("cannot read '", path, "': ", std::strerror(errno)));
  }
  absl::StatusOr<Settings> settings = ParseConfig(text.str());
  if (!settings.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ",
        absl::StrReplaceAll(settings.status().message(),
                            {{"\n", absl::StrCat("\n", path, ": ")}})));
  }
  for (const auto& [flag, value] : *settings) {
    if (flag != "config") continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": a configuration file cannot name another"));
  }
  return settings;
}

}  // namespace reprise
