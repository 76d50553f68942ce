#include "client/cli/cli.h"

#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/commands.h"
#include "client/cli/flags.h"
#include "client/cli/format.h"
#include "client/status.h"

namespace reprise::client {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 it worked; 1 a wrong flag, argument or local file, or a\n"
    "failed write; 2 the server cannot be reached or said UNAVAILABLE; 3 it\n"
    "answered with another error.\n";

std::vector<std::unique_ptr<Command>> MakeCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeModelsCommand());
  commands.push_back(MakeConfigCommand());
  commands.push_back(MakeStatsCommand());
  commands.push_back(MakeInferCommand());
  commands.push_back(MakeLoadCommand());
  commands.push_back(MakeUnloadCommand());
  commands.push_back(MakeBenchCommand());
  commands.push_back(MakeHealthCommand());
  return commands;
}

std::string Overview() {
  std::string text =
      "reprise talks to a Reprise server, or to any server of the v2 protocol "
      "over gRPC.\n\nUsage: reprise COMMAND [ARGUMENTS] [FLAGS]\n\n";
  for (const std::unique_ptr<Command>& command : MakeCommands()) {
    std::string left =
        absl::StrCat("  ", command->help().name,
                     command->help().arguments.empty() ? "" : " ",
                     command->help().arguments);
    left.resize(std::max<size_t>(left.size() + 2, 24), ' ');
    absl::StrAppend(&text, left, command->help().summary, "\n");
  }
  absl::StrAppend(&text,
                  "\n`reprise COMMAND --help` has the flags and examples of a "
                  "command.\nThe server is localhost:8001 unless --server or "
                  "REPRISE_SERVER says otherwise.\n\n",
                  kExitCodes);
  return text;
}

std::string HelpText(const CommandHelp& help, const FlagTable& flags) {
  return absl::StrCat("Usage: reprise ", help.name,
                      help.arguments.empty() ? "" : " ", help.arguments,
                      " [FLAGS]\n\n", help.details, "\nExamples:\n",
                      help.examples, "\n", flags.Help(), "\n",
                      help.name == "health" ? "" : kExitCodes);
}

ExitCode Report(const std::string& where, const absl::Status& status,
                const std::string& server, Terminal& terminal) {
  terminal.err << where << ": ";
  if (!IsRpcError(status)) {
    terminal.err << OneLine(absl::StrCat(status.message())) << "\n";
    return ExitCode::kUsage;
  }
  terminal.err << OneLine(absl::StrCat(absl::StatusCodeToString(status.code()),
                                       ": ", status.message(), " (server ",
                                       server, ")"))
               << "\n";
  return status.code() == absl::StatusCode::kUnavailable
             ? ExitCode::kUnreachable
             : ExitCode::kRpcError;
}

ExitCode RunCommand(Command& command, const std::vector<std::string>& arguments,
                    Terminal& terminal) {
  const std::string where = absl::StrCat("reprise ", command.help().name);
  FlagTable flags;
  bool help = false;
  command.AddFlags(flags, terminal);
  flags.Switch("help", &help, "print this");
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "--help" || argument == "-h") {
      terminal.out << HelpText(command.help(), flags);
      return ExitCode::kOk;
    }
  }
  absl::StatusOr<std::vector<std::string>> rest = flags.Parse(arguments);
  if (!rest.ok()) {
    terminal.err << where << ": " << OneLine(rest.status().message()) << " ("
                 << where << " --help lists the flags)\n";
    return ExitCode::kUsage;
  }
  absl::StatusOr<ExitCode> code = command.Run(*rest, terminal);
  if (code.ok()) return *code;
  return Report(where, code.status(), command.connection().server(), terminal);
}

}  // namespace

ExitCode RunCli(const std::vector<std::string>& arguments, Terminal& terminal) {
  if (arguments.empty()) {
    terminal.err << Overview();
    return ExitCode::kUsage;
  }
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  std::string name = arguments.front();
  if (name == "--version") {
    terminal.out << "reprise " << REPRISE_VERSION << "\n";
    return ExitCode::kOk;
  }
  if (name == "--help" || name == "-h" || name == "help") {
    if (rest.empty()) {
      terminal.out << Overview();
      return ExitCode::kOk;
    }
    name = rest.front();
    rest = {"--help"};
  }
  for (const std::unique_ptr<Command>& command : MakeCommands()) {
    if (command->help().name == name) {
      return RunCommand(*command, rest, terminal);
    }
  }
  terminal.err << "reprise: unknown command \"" << OneLine(name)
               << "\" (reprise --help lists them)\n";
  return ExitCode::kUsage;
}

}  // namespace reprise::client
