// The `reprise` command in process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/cli/cli.h"

namespace reprise::client::testing {

struct CliRun {
  ExitCode code;
  std::string out;
  std::string err;
};

// Runs `arguments` with these environment variables and no others.
CliRun RunReprise(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& env = {});

// A path for a test's own file.
std::string TempPath(const std::string& name);

}  // namespace reprise::client::testing
