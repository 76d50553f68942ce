// The `reprise` command, but for its process.
#pragma once

#include <string>
#include <vector>

#include "client/cli/terminal.h"

namespace reprise::client {

// Runs what `arguments` (without the program's name) ask for. A failure is one
// line on terminal.err; the return value is the exit code.
ExitCode RunCli(const std::vector<std::string>& arguments, Terminal& terminal);

}  // namespace reprise::client
