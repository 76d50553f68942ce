#include "tests/client/cli/run_cli.h"

#include <sstream>

#include "gtest/gtest.h"

namespace reprise::client::testing {

CliRun RunReprise(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& env) {
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{out, err, /*err_is_tty=*/false,
                    [&env](const std::string& name) {
                      const auto found = env.find(name);
                      return found == env.end() ? std::string() : found->second;
                    },
                    [] { return false; }};
  const ExitCode code = RunCli(arguments, terminal);
  return {code, out.str(), err.str()};
}

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/reprise_cli_test_" + name;
}

}  // namespace reprise::client::testing
