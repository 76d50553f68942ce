// The process around RunCli: streams, environment, Ctrl-C.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "client/cli/cli.h"

namespace {

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
  reprise::client::Terminal terminal{
      std::cout, std::cerr, isatty(STDERR_FILENO) == 1,
      [](const std::string& name) {
        const char* value = std::getenv(name.c_str());
        return std::string(value == nullptr ? "" : value);
      },
      [] { return interrupted != 0; }};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(reprise::client::RunCli(arguments, terminal));
}
