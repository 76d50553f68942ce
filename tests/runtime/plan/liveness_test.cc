#include "runtime/plan/liveness.h"

#include <vector>

#include "gtest/gtest.h"

namespace reprise::plan {
namespace {

TEST(LivenessTest, SpansFirstToLastUse) {
  Plan plan;
  plan.buffers = {{.name = "a"}, {.name = "b"}, {.name = "unused"}};
  plan.steps = {{.name = "0", .writes = {0}},
                {.name = "1", .reads = {0, kNoBuffer}, .writes = {1}},
                {.name = "2", .reads = {0}}};
  const std::vector<Life> lives = Lives(plan);
  EXPECT_EQ(lives[0].first, 0);
  EXPECT_EQ(lives[0].last, 2);
  EXPECT_EQ(lives[1].first, 1);
  EXPECT_EQ(lives[1].last, 1);
  EXPECT_EQ(lives[2].first, -1);
}

TEST(LivenessTest, AViewKeepsItsRootAlive) {
  Plan plan;
  plan.buffers = {{.name = "a"}, {.name = "view", .alias = 0}};
  plan.steps = {
      {.name = "0", .writes = {0}}, {.name = "1"}, {.name = "2", .reads = {1}}};
  const std::vector<Life> lives = Lives(plan);
  EXPECT_EQ(lives[0].last, 2);
  EXPECT_EQ(lives[1].first, 0);
  EXPECT_EQ(lives[1].last, 2);
}

TEST(LivenessTest, NeighboursOverlapOnlyInASharedStep) {
  EXPECT_TRUE((Life{0, 1}.Overlaps(Life{1, 2})));
  EXPECT_FALSE((Life{0, 1}.Overlaps(Life{2, 3})));
  EXPECT_FALSE((Life{-1, -1}.Overlaps(Life{0, 3})));
}

}  // namespace
}  // namespace reprise::plan
