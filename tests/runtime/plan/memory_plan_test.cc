#include "runtime/plan/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/plan/liveness.h"
#include "tests/testing/status_matchers.h"

namespace reprise::plan {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

// in -> a -> b -> c -> out, all of 100 bytes.
Plan Chain() {
  Plan plan;
  plan.buffers = {{.name = "in", .bytes = 100, .place = Place::kInput},
                  {.name = "a", .bytes = 100},
                  {.name = "b", .bytes = 100},
                  {.name = "c", .bytes = 100},
                  {.name = "out", .bytes = 100, .place = Place::kOutput}};
  for (int i = 0; i < 4; ++i) {
    plan.steps.push_back(
        {.name = absl::StrCat("s", i), .reads = {i}, .writes = {i + 1}});
  }
  return plan;
}

TEST(MemoryPlanTest, AChainNeedsTwoBuffers) {
  Plan plan = Chain();
  ASSERT_THAT(AssignMemory(plan), IsOk());
  EXPECT_EQ(plan.arena_bytes, 256);
  EXPECT_EQ(plan.live_bytes, 256);
  EXPECT_EQ(plan.buffers[1].offset, plan.buffers[3].offset);
  EXPECT_NE(plan.buffers[1].offset, plan.buffers[2].offset);
  EXPECT_THAT(CheckPlan(plan), IsOk());
}

TEST(MemoryPlanTest, ScratchLivesForItsStepOnly) {
  Plan plan = Chain();
  plan.steps[1].scratch_bytes = 100;
  plan.steps[3].scratch_bytes = 100;
  ASSERT_THAT(AssignMemory(plan), IsOk());
  EXPECT_EQ(plan.arena_bytes, 3 * 128);
  EXPECT_EQ(plan.live_bytes, 2 * 128);  // no scratch among them
  EXPECT_THAT(CheckPlan(plan), IsOk());
}

TEST(MemoryPlanTest, TakesTheSmallestGapThatFits) {
  // big | gap of 128 after x dies | keep | gap of 64 after y dies | keep2
  Plan plan;
  plan.buffers = {{.name = "x", .bytes = 128},
                  {.name = "keep", .bytes = 512},
                  {.name = "y", .bytes = 64},
                  {.name = "keep2", .bytes = 256},
                  {.name = "late", .bytes = 60}};
  plan.steps = {{.name = "make", .writes = {0, 1, 2, 3}},
                {.name = "later", .reads = {1, 3}, .writes = {4}},
                {.name = "end", .reads = {1, 3, 4}}};
  ASSERT_THAT(AssignMemory(plan), IsOk());
  EXPECT_THAT(CheckPlan(plan), IsOk());
  EXPECT_EQ(plan.arena_bytes, 128 + 512 + 64 + 256);
  EXPECT_LT(plan.buffers[4].offset + 64, plan.arena_bytes + 1);
}

TEST(MemoryPlanTest, AViewKeepsItsBytes) {
  Plan plan = Chain();
  plan.buffers.push_back({.name = "view", .bytes = 100, .alias = 1});
  plan.steps[3].reads.push_back(5);
  ASSERT_THAT(AssignMemory(plan), IsOk());
  EXPECT_NE(plan.buffers[1].offset, plan.buffers[3].offset);
  plan.buffers[3].offset = plan.buffers[1].offset;
  EXPECT_THAT(CheckPlan(plan),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("overlaps")));
}

TEST(MemoryPlanTest, CheckFindsScratchOverABuffer) {
  Plan plan = Chain();
  plan.steps[1].scratch_bytes = 10;
  ASSERT_THAT(AssignMemory(plan), IsOk());
  plan.steps[1].scratch_offset = plan.buffers[1].offset;
  EXPECT_THAT(CheckPlan(plan),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("the scratch of s1 overlaps a")));
}

TEST(MemoryPlanTest, CheckFindsWhatLeavesTheArena) {
  Plan plan = Chain();
  ASSERT_THAT(AssignMemory(plan), IsOk());
  plan.arena_bytes -= 64;
  EXPECT_THAT(CheckPlan(plan),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("in an arena")));
}

TEST(MemoryPlanTest, RefusesMalformedPlans) {
  Plan early = Chain();
  std::swap(early.steps[0], early.steps[1]);
  EXPECT_THAT(AssignMemory(early),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("step s1 reads a before")));
  Plan writes_input = Chain();
  writes_input.steps[0].writes = {0};
  EXPECT_THAT(AssignMemory(writes_input),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("slot input")));
  Plan out_of_range = Chain();
  out_of_range.steps[0].reads = {9};
  EXPECT_THAT(AssignMemory(out_of_range), StatusIs(absl::StatusCode::kInternal,
                                                   HasSubstr("buffer 9 of 5")));
  Plan circle = Chain();
  circle.buffers[1].alias = 2;
  circle.buffers[2].alias = 1;
  EXPECT_THAT(AssignMemory(circle),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("view")));
  Plan large_view = Chain();
  large_view.buffers[2].alias = 1;
  large_view.buffers[2].bytes = 101;
  EXPECT_THAT(AssignMemory(large_view),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("101 bytes")));
}

TEST(MemoryPlanTest, ThousandsOfStepsNeedNoMoreThanAFew) {
  constexpr int kSteps = 20'000;
  Plan plan;
  plan.buffers.push_back({.name = "in", .bytes = 64, .place = Place::kInput});
  for (int i = 0; i < kSteps; ++i) {
    plan.buffers.push_back({.name = absl::StrCat("b", i), .bytes = 64});
    plan.steps.push_back(
        {.name = absl::StrCat("s", i), .reads = {i}, .writes = {i + 1}});
  }
  ASSERT_THAT(AssignMemory(plan), IsOk());
  EXPECT_EQ(plan.arena_bytes, 128);
  EXPECT_THAT(CheckPlan(plan), IsOk());
  plan.buffers[kSteps / 2].offset = plan.buffers[kSteps / 2 + 1].offset;
  EXPECT_THAT(CheckPlan(plan),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("overlaps")));
}

// A random plan: each step reads earlier buffers, now and then through a view,
// and writes one or two new ones.
Plan RandomPlan(std::mt19937& random, int most_steps) {
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  Plan plan;
  plan.buffers.push_back({.name = "in", .bytes = 64, .place = Place::kInput});
  const int steps = 1 + below(most_steps);
  for (int i = 0; i < steps; ++i) {
    Step step{.name = absl::StrCat("s", i)};
    for (int k = below(3); k >= 0; --k) {
      step.reads.push_back(below(static_cast<int>(plan.buffers.size())));
    }
    if (below(3) == 0) step.scratch_bytes = 1 + below(5000);
    for (int k = below(2); k >= 0; --k) {
      step.writes.push_back(static_cast<int>(plan.buffers.size()));
      plan.buffers.push_back({.name = absl::StrCat("b", plan.buffers.size()),
                              .bytes = below(8) == 0 ? 0 : 1 + below(9000)});
    }
    plan.steps.push_back(step);
    const int of = below(static_cast<int>(plan.buffers.size()));
    if (below(3) == 0 && of != 0) {
      plan.buffers.push_back({.name = absl::StrCat("v", i),
                              .bytes = plan.buffers[of].bytes,
                              .alias = of});
    }
  }
  return plan;
}

// Runs the plan over a byte map: each write stamps the buffer's bytes with its
// root, and each read must find that stamp untouched.
void Simulate(const Plan& plan) {
  std::vector<int> owner(static_cast<size_t>(plan.arena_bytes), -1);
  const auto arena = [&](BufferId id) {
    return plan.buffers[Root(plan, id)].place == Place::kArena;
  };
  int scratch_stamp = -2;
  for (const Step& step : plan.steps) {
    for (const BufferId id : step.writes) {
      if (!arena(id)) continue;
      const Buffer& root = plan.buffers[Root(plan, id)];
      std::fill_n(owner.begin() + root.offset, root.bytes, Root(plan, id));
    }
    if (step.scratch_bytes > 0) {
      std::fill_n(owner.begin() + step.scratch_offset, step.scratch_bytes,
                  scratch_stamp--);
    }
    for (const BufferId id : step.reads) {
      if (!arena(id)) continue;
      const Buffer& root = plan.buffers[Root(plan, id)];
      for (int64_t at = 0; at < root.bytes; ++at) {
        ASSERT_EQ(owner[root.offset + at], Root(plan, id))
            << step.name << " reads " << plan.buffers[id].name << "\n"
            << PlanText(plan);
      }
    }
  }
}

TEST(MemoryPlanTest, RandomPlansKeepEveryLiveByte) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    // Some are so long that lives are of both kinds.
    Plan plan = RandomPlan(random, seed % 20 == 0 ? 400 : 40);
    ASSERT_THAT(AssignMemory(plan), IsOk()) << "seed " << seed;
    ASSERT_THAT(CheckPlan(plan), IsOk()) << "seed " << seed;
    Simulate(plan);
    if (HasFatalFailure()) FAIL() << "seed " << seed;

    int64_t sum = 0;  // reuse never costs more than no reuse
    for (const Buffer& buffer : plan.buffers) sum += buffer.bytes + 64;
    for (const Step& step : plan.steps) sum += step.scratch_bytes + 64;
    EXPECT_LE(plan.arena_bytes, sum);
    EXPECT_LE(plan.live_bytes, plan.arena_bytes);
  }
}

}  // namespace
}  // namespace reprise::plan
