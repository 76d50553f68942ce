// The subcommands, in the order in which the help lists them.
#pragma once

#include <memory>
#include <vector>

#include "client/cli/command.h"

namespace reprise::client {

std::unique_ptr<Command> MakeModelsCommand();
std::unique_ptr<Command> MakeConfigCommand();
std::unique_ptr<Command> MakeStatsCommand();
std::unique_ptr<Command> MakeInferCommand();
std::unique_ptr<Command> MakeLoadCommand();
std::unique_ptr<Command> MakeUnloadCommand();
std::unique_ptr<Command> MakeBenchCommand();
std::unique_ptr<Command> MakeHealthCommand();

}  // namespace reprise::client
