// What each subcommand is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/connection.h"
#include "client/cli/flags.h"
#include "client/cli/terminal.h"

namespace reprise::client {

struct CommandHelp {
  std::string name;
  std::string arguments;  // "MODEL", "[SERVICE]"; empty if it takes none
  std::string summary;    // one line in the list of commands
  std::string details;    // a paragraph or two, and the exit codes
  std::string examples;   // lines to copy
};

// Lifecycle: made for one use; AddFlags, then Run, once each.
class Command {
 public:
  explicit Command(CommandHelp help) : help_(std::move(help)) {}
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  const CommandHelp& help() const { return help_; }
  const Connection& connection() const { return connection_; }

  // The command's own flags, and then the connection's.
  void AddFlags(FlagTable& flags, const Terminal& terminal);

  // `arguments` are what is not a flag. An error that is no answer of the
  // server's is the user's or a local file's (exit code 1).
  virtual absl::StatusOr<ExitCode> Run(
      const std::vector<std::string>& arguments, Terminal& terminal) = 0;

 protected:
  virtual void AddOwnFlags(FlagTable& /*flags*/) {}

  // INVALID_ARGUMENT unless there are `min` to `max` arguments, the first of
  // which is UTF-8: it goes to the server, those that follow are files.
  absl::Status CheckArguments(const std::vector<std::string>& arguments,
                              size_t min, size_t max) const;

  Connection connection_;

 private:
  const CommandHelp help_;
};

}  // namespace reprise::client
