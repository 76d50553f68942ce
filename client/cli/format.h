// Numbers and texts as people read them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

namespace reprise::client {

// Three digits and a unit: "87.3 us", "1.20 ms", "4.05 s"; 0 is "0".
std::string FormatNanos(double ns);

// "1,234,567"
std::string FormatCount(int64_t count);

// Two decimals at most: "1", "3.5", "12.25".
std::string FormatDecimal(double value);

// `text` for a terminal, whoever wrote it: "; " where a line ends, and other
// control characters as \xNN.
std::string OneLine(absl::string_view text);

// Fields keep the order in which they were added.
using Json = nlohmann::ordered_json;

// Indented by two, with a newline at the end; what is no UTF-8 is replaced.
std::string JsonText(const Json& json);

}  // namespace reprise::client
