#include "runtime/prepare/fusion_choice.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/device/device.h"

namespace reprise {
namespace {

struct Fusion {
  absl::string_view name;
  bool ops::FuseOptions::*enabled;
};

// Every switch of FuseOptions.
constexpr Fusion kFusions[] = {
    {"activation", &ops::FuseOptions::activation},
    {"batch_norm", &ops::FuseOptions::batch_norm},
    {"bias", &ops::FuseOptions::bias},
};

}  // namespace

absl::StatusOr<ops::FuseOptions> FuseOptionsWithout(
    const std::vector<std::string>& off, absl::string_view device) {
  ops::FuseOptions options;
  for (const std::string& name : off) {
    bool known = false;
    for (const Fusion& fusion : kFusions) {
      if (name != kAllFusions && name != fusion.name) continue;
      options.*fusion.enabled = false;
      known = true;
    }
    if (!known) {
      return absl::InvalidArgumentError(absl::StrCat(
          "fusions: ", device, " has none of the name '", name, "'; it has ",
          absl::StrJoin(kFusions, ", ",
                        [](std::string* text, const Fusion& fusion) {
                          absl::StrAppend(text, fusion.name);
                        })));
    }
  }
  return options;
}

}  // namespace reprise
