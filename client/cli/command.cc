#include "client/cli/command.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/cli/utf8.h"
#include "client/status.h"

namespace reprise::client {
namespace {

// "MODEL" of "[MODEL]" and of "MODEL [FILE ...]".
absl::string_view FirstWord(absl::string_view arguments) {
  const size_t begin = arguments.find_first_not_of('[');
  if (begin == absl::string_view::npos) return "argument";
  return arguments.substr(begin, arguments.find_first_of(" ]", begin) - begin);
}

}  // namespace

void Command::AddFlags(FlagTable& flags, const Terminal& terminal) {
  AddOwnFlags(flags);
  flags.Group("Connection");
  connection_.AddFlags(flags, terminal);
}

absl::Status Command::CheckArguments(const std::vector<std::string>& arguments,
                                     size_t min, size_t max) const {
  if (arguments.size() < min) {
    return absl::InvalidArgumentError(
        absl::StrCat("it needs ", help_.arguments));
  }
  if (arguments.size() > max) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", arguments[max], "\""));
  }
  if (arguments.empty()) return absl::OkStatus();
  return Annotate(CheckUtf8(arguments[0]), FirstWord(help_.arguments));
}

}  // namespace reprise::client
