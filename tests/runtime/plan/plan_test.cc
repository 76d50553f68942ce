#include "runtime/plan/plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::plan {
namespace {

TEST(PlanTest, RootFollowsViewsOfViews) {
  Plan plan;
  plan.buffers = {{.name = "a", .bytes = 8},
                  {.name = "b", .bytes = 8, .alias = 0},
                  {.name = "c", .bytes = 4, .alias = 1}};
  EXPECT_EQ(Root(plan, 0), 0);
  EXPECT_EQ(Root(plan, 2), 0);
}

TEST(PlanTest, TextNamesStepsAndPlaces) {
  Plan plan;
  plan.buffers = {
      {.name = "x", .bytes = 16, .place = Place::kInput, .index = 0},
      {.name = "w", .bytes = 4, .place = Place::kConstant},
      {.name = "h", .bytes = 16, .offset = 64},
      {.name = "view", .bytes = 16, .alias = 2},
      {.name = "y", .bytes = 16, .place = Place::kOutput, .index = 1}};
  plan.steps = {{.name = "Conv",
                 .reads = {0, 1, kNoBuffer},
                 .writes = {2},
                 .scratch_bytes = 10,
                 .scratch_offset = 128},
                {.name = "Relu", .reads = {3}, .writes = {4}}};
  plan.arena_bytes = 192;
  EXPECT_EQ(PlanText(plan),
            "arena 192 bytes\n"
            "step 0 Conv(x, w, -) -> h scratch 10 at arena+128\n"
            "step 1 Relu(view) -> y\n"
            "buffer x 16 bytes: slot input 0\n"
            "buffer w 4 bytes: constant\n"
            "buffer h 16 bytes: arena+64\n"
            "buffer view 16 bytes: view of h\n"
            "buffer y 16 bytes: slot output 1\n");
}

}  // namespace
}  // namespace reprise::plan
