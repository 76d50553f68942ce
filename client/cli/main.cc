// The process around RunCli: streams, environment, Ctrl-C.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/cli.h"
#include "client/cli/output.h"
#include "google/protobuf/stubs/logging.h"

namespace {

using reprise::client::ExitCode;
using reprise::client::Output;
using reprise::client::RunCli;
using reprise::client::Terminal;

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C asks the command to stop, the second one ends it.
void OnInterrupt(int /*signal*/) {
  interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  std::signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && std::string(argv[1]) == "bench") {
    std::signal(SIGINT, OnInterrupt);
  }
  google::protobuf::SetLogHandler(nullptr);  // our own errors say it
  Output output(STDOUT_FILENO);
  std::ostream out(&output);
  Terminal terminal{out, std::cerr, isatty(STDERR_FILENO) == 1,
                    [](const std::string& name) {
                      const char* value = std::getenv(name.c_str());
                      return std::string(value == nullptr ? "" : value);
                    },
                    [] { return interrupted != 0; }};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  ExitCode code = RunCli(arguments, terminal);
  if (const absl::Status written = output.Finish(); !written.ok()) {
    std::cerr << "reprise: cannot write to stdout: " << written.message()
              << "\n";
    if (code == ExitCode::kOk) code = ExitCode::kUsage;
  }
  return static_cast<int>(code);
}
