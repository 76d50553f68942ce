#include "client/cli/command.h"

#include "absl/strings/str_cat.h"

namespace reprise::client {

void Command::AddFlags(FlagTable& flags, const Terminal& terminal) {
  AddOwnFlags(flags);
  flags.Group("Connection");
  connection_.AddFlags(flags, terminal);
}

absl::Status Command::CheckCount(const std::vector<std::string>& arguments,
                                 size_t min, size_t max) const {
  if (arguments.size() < min) {
    return absl::InvalidArgumentError(
        absl::StrCat("it needs ", help_.arguments));
  }
  if (arguments.size() > max) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", arguments[max], "\""));
  }
  return absl::OkStatus();
}

}  // namespace reprise::client
