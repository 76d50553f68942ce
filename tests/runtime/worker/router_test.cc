#include "runtime/worker/router.h"

#include <vector>

#include "gtest/gtest.h"

namespace reprise {
namespace {

WorkerLoad Load(int milliseconds, bool stuck = false) {
  return {.outstanding = absl::Milliseconds(milliseconds), .stuck = stuck};
}

TEST(RouterTest, ChoosesTheLeastOutstanding) {
  const std::vector<WorkerLoad> loads = {Load(3), Load(1), Load(2)};
  EXPECT_EQ(ChooseWorker(loads, -1), 1);
  EXPECT_EQ(ChooseWorker(loads, 1), 1);
}

TEST(RouterTest, EqualsTakeTurns) {
  const std::vector<WorkerLoad> loads = {Load(0), Load(0), Load(0)};
  EXPECT_EQ(ChooseWorker(loads, -1), 0);
  EXPECT_EQ(ChooseWorker(loads, 0), 1);
  EXPECT_EQ(ChooseWorker(loads, 2), 0);
}

TEST(RouterTest, AStuckWorkerIsTheLastChoice) {
  EXPECT_EQ(ChooseWorker(std::vector<WorkerLoad>{Load(0, true), Load(9)}, -1),
            1);
  EXPECT_EQ(
      ChooseWorker(std::vector<WorkerLoad>{Load(5, true), Load(2, true)}, -1),
      1);
}

TEST(RouterTest, NoWorkersNoChoice) { EXPECT_EQ(ChooseWorker({}, -1), -1); }

}  // namespace
}  // namespace reprise
