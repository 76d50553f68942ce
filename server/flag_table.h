// The table of flags.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/options.h"

namespace reprise {

struct Flag {
  std::string name;   // without dashes
  std::string value;  // what --help calls it: "PORT"; empty: a switch
  std::string help;
  bool repeatable = false;
  // INVALID_ARGUMENT, without the flag's name: what is wrong with `text`.
  std::function<absl::Status(absl::string_view text, ServerOptions&)> set;
  std::function<std::string(const ServerOptions&)> show;

  bool is_switch() const { return value.empty(); }
};

struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

// In the order of --help. `--config`, `--help` and `--version` are not in it:
// they are about the command line itself.
const std::vector<FlagGroup>& FlagTable();

}  // namespace reprise
