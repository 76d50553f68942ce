// The daemon's flags: one table, from which they are parsed, explained and
// shown.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/options.h"

namespace reprise {

enum class Command { kServe, kHelp, kVersion };

struct CommandLine {
  Command command = Command::kServe;
  ServerOptions options;
  // Flags of Triton's that were said and change nothing: "--http-port".
  std::vector<std::string> ignored;
};

// `args` without the program's name. Understands --flag=value, --flag value,
// and --flag alone where it is a switch; flags may be said in the file of
// --config, which the command line overrides. INVALID_ARGUMENT lists every
// fault, one a line: unknown flags, bad values, flags of Triton's that cannot
// be ignored (triton_flags.h), and what Validate finds; what only seems to be
// wrong because of the others is not in it. Those of the file name it.
absl::StatusOr<CommandLine> ParseCommandLine(std::span<const char* const> args);

// Whether `next` is the value of the argument `arg` before it: of
// "--grpc-port" it is; of a switch only if it is true or false.
bool TakesNext(absl::string_view arg, absl::string_view next);

// The whole of --help: groups, flags, values, defaults.
std::string HelpText();

// Every flag with its value in effect: {"--grpc-port", "8001"}.
std::vector<std::pair<std::string, std::string>> Effective(
    const ServerOptions& options);

}  // namespace reprise
