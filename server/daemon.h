// The program: command line -> Server -> signals -> exit code.
#pragma once

#include <span>

#include "server/server.h"

namespace reprise {

// `args` without the program's name. Returns an ExitCode, or what the
// subcommand says. `wrap` as Server::Create takes it. Blocks SIGTERM, SIGINT
// and SIGUSR1 for the whole process: call it from main.
int RunDaemon(std::span<const char* const> args,
              const DeviceWrapper& wrap = nullptr);

}  // namespace reprise
