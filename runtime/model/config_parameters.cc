#include "runtime/model/config_parameters.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/device/device.h"

namespace reprise {
namespace {

constexpr int kMaxVariants = 4096;
constexpr absl::string_view kDimPrefix = "dim.";

bool ParseExtent(absl::string_view text, int64_t& extent) {
  return absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &extent) &&
         extent >= 1 && extent <= INT32_MAX;
}

// "224" or "1..512".
bool ParseRange(absl::string_view text, DimRange& range) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(text, absl::MaxSplits("..", 1));
  if (!ParseExtent(ends.first, range.low)) return false;
  if (!absl::StrContains(text, "..")) {
    range.high = range.low;
    return true;
  }
  return ParseExtent(ends.second, range.high) && range.low <= range.high;
}

// "height=224, width=224; height=320, width=320"
void ParseVariants(absl::string_view text, ConfigParameters& parameters,
                   std::vector<std::string>& faults) {
  for (absl::string_view one : absl::StrSplit(text, ';')) {
    if (absl::StripAsciiWhitespace(one).empty()) continue;
    std::map<std::string, int64_t> variant;
    for (absl::string_view binding : absl::StrSplit(one, ',')) {
      const std::pair<absl::string_view, absl::string_view> halves =
          absl::StrSplit(binding, absl::MaxSplits('=', 1));
      const absl::string_view symbol = absl::StripAsciiWhitespace(halves.first);
      int64_t extent = 0;
      if (symbol.empty() || !ParseExtent(halves.second, extent) ||
          !variant.emplace(symbol, extent).second) {
        faults.push_back(absl::StrCat(
            "parameter variants: '", absl::StripAsciiWhitespace(binding),
            "' is not <symbol>=<extent>, each symbol once"));
        return;
      }
    }
    parameters.variants.push_back(std::move(variant));
  }
  if (parameters.variants.empty()) {
    faults.emplace_back("parameter variants: names no variant");
  }
}

// "off", or "bias, activation"
bool ParseFusions(absl::string_view text, std::vector<std::string>& off) {
  if (absl::StripAsciiWhitespace(text) == "off") {
    off = {std::string(kAllFusions)};
    return true;
  }
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    name = absl::StripAsciiWhitespace(name);
    if (name.empty()) return false;
    off.emplace_back(name);
  }
  return true;
}

}  // namespace

ConfigParameters ReadParameters(const inference::ModelConfig& config,
                                std::vector<std::string>& faults,
                                std::vector<std::string>& unknown) {
  ConfigParameters parameters;
  const std::set<std::string> precisions = {"fp32", "tf32", "fp16", "bf16"};
  // A map's order is not its own: sorted, so that messages are the same always.
  const std::map<std::string, inference::ModelParameter> sorted(
      config.parameters().begin(), config.parameters().end());
  for (const auto& [key, parameter] : sorted) {
    const std::string& text = parameter.string_value();
    const auto fault = [&, &key = key](absl::string_view wanted) {
      faults.push_back(
          absl::StrCat("parameter ", key, ": '", text, "' is not ", wanted));
    };
    if (key == "slo_ms") {
      double ms = 0;
      if (absl::SimpleAtod(text, &ms) && ms > 0 && ms <= 86'400'000) {
        parameters.slo = absl::Milliseconds(ms);
      } else {
        fault("a positive number of milliseconds");
      }
    } else if (key == "max_variants") {
      if (!absl::SimpleAtoi(text, &parameters.max_variants) ||
          parameters.max_variants < 1 ||
          parameters.max_variants > kMaxVariants) {
        fault(absl::StrCat("a number in [1, ", kMaxVariants, "]"));
      }
    } else if (key == "precision") {
      parameters.precision = text;
      parameters.precision_configured = true;
      if (!precisions.contains(text)) fault("one of fp32, tf32, fp16, bf16");
    } else if (key == "variants") {
      ParseVariants(text, parameters, faults);
    } else if (key == "fusions") {
      if (!ParseFusions(text, parameters.fusions_off)) {
        fault("'off' or a list of fusions to keep off");
      }
    } else if (absl::StartsWith(key, kDimPrefix)) {
      DimRange& range = parameters.dims[key.substr(kDimPrefix.size())];
      if (!ParseRange(text, range)) {
        fault("a positive extent or a range such as 1..512");
      }
    } else {
      unknown.push_back(absl::StrCat("parameters['", key, "']"));
    }
  }
  return parameters;
}

}  // namespace reprise
