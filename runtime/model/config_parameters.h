// The parameters of config.pbtxt that are Reprise's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/model_config.pb.h"
#include "runtime/model/model_config.h"

namespace reprise {

// slo_ms, max_variants, precision, variants, fusions and dim.<symbol>.
struct ConfigParameters {
  std::optional<absl::Duration> slo;
  int max_variants = 32;
  std::string precision = "tf32";
  bool precision_configured = false;
  std::map<std::string, DimRange> dims;                  // by symbol
  std::vector<std::map<std::string, int64_t>> variants;  // by symbol, each
  // fusions: "off", or a list of those that are kept off: "bias, activation".
  // Their names are the device's (LoadOptions::fusions_off).
  std::vector<std::string> fusions_off;
};

// Adds what is wrong to `faults`, naming the parameter, and the keys that are
// not ours to `unknown`: they may speak to another server's backend.
ConfigParameters ReadParameters(const inference::ModelConfig& config,
                                std::vector<std::string>& faults,
                                std::vector<std::string>& unknown);

}  // namespace reprise
