#include "runtime/cuda/ops/teams.h"

#include <utility>

#include "runtime/cuda/ops/launch.h"

namespace reprise::cuda {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kTeamsOfABlock = 4;
// Elements that a thread of a larger team should have at least.
constexpr int64_t kMinElements = 8;
constexpr unsigned kMaxTeam = 256;

}  // namespace

KernelLaunch TeamLaunch(std::string entry, int64_t rows, int64_t length,
                        std::vector<Argument> arguments) {
  unsigned team = kWarp;
  while (team < kMaxTeam && length > team * kMinElements) team *= 2;
  const unsigned teams = team == kWarp ? kTeamsOfABlock : 1;
  return {.entry = std::move(entry),
          .grid = {static_cast<unsigned>(CeilDiv(rows, teams))},
          .block = {team, teams},
          .arguments = std::move(arguments)};
}

}  // namespace reprise::cuda
