#include "client/cli/format.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace reprise::client {

std::string FormatNanos(double ns) {
  if (ns == 0) return "0";
  struct Unit {
    double ns;
    const char* name;
  };
  // The bounds are where rounding to three digits would reach the next unit.
  constexpr Unit kUnits[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  for (const Unit& unit : kUnits) {
    const double value = ns / unit.ns;
    if (std::abs(value) >= 999.5 && unit.ns < 1e9) continue;
    const int decimals = std::abs(value) < 9.995   ? 2
                         : std::abs(value) < 99.95 ? 1
                                                   : 0;
    return absl::StrFormat("%.*f %s", unit.ns == 1 ? 0 : decimals, value,
                           unit.name);
  }
  return "";
}

std::string FormatCount(int64_t count) {
  const std::string digits = absl::StrCat(count);
  const size_t first = count < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool group = i > first && (digits.size() - i) % 3 == 0;
    if (group) text += ',';
    text += digits[i];
  }
  return text;
}

std::string FormatDecimal(double value) {
  std::string text = absl::StrFormat("%.2f", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (absl::EndsWith(text, ".")) text.pop_back();
  return text;
}

std::string OneLine(absl::string_view text) {
  text = absl::StripTrailingAsciiWhitespace(text);
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const unsigned char next =
        i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (c == '\r' && next == '\n') continue;
    if (c == '\n') {
      line += "; ";
    } else if (c < 0x20 || c == 0x7F) {
      absl::StrAppendFormat(&line, "\\x%02X", c);
    } else if (c == 0xC2 && next >= 0x80 && next < 0xA0) {
      absl::StrAppendFormat(&line, "\\x%02X\\x%02X", c, next);  // U+0080..9F
      ++i;
    } else {
      line += text[i];
    }
  }
  return line;
}

std::string JsonText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace reprise::client
