#include "runtime/prepare/rung_choice.h"

#include <cstddef>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::Pointee;

// Rungs of 1, 2, 3, ... rows with these times.
Ladder Times(const std::vector<int>& microseconds) {
  Ladder ladder;
  for (const int time : microseconds) {
    ladder.emplace_back();
    ladder.back().rows = static_cast<int>(ladder.size());
    ladder.back().p50 = absl::Microseconds(time);
  }
  return ladder;
}

TEST(RungChoiceTest, ARungMustBeTwoPercentFasterThanALargerOne) {
  EXPECT_THAT(RungsWorthHaving(Times({980, 1000})), ElementsAre(0, 1));
  EXPECT_THAT(RungsWorthHaving(Times({981, 1000})), ElementsAre(1));
  EXPECT_THAT(RungsWorthHaving(Times({1200, 1000})), ElementsAre(1));
}

TEST(RungChoiceTest, AnyLargerRungCountsNotJustTheNext) {
  // The first is faster than the second, which is worth nothing itself.
  EXPECT_THAT(RungsWorthHaving(Times({990, 2000, 1000})), ElementsAre(2));
  EXPECT_THAT(RungsWorthHaving(Times({100, 2000, 1000})), ElementsAre(0, 2));
  EXPECT_THAT(RungsWorthHaving(Times({100, 900, 899, 1000})),
              ElementsAre(0, 2, 3));
}

TEST(RungChoiceTest, TheLargestStaysWhateverItTakes) {
  EXPECT_THAT(RungsWorthHaving(Times({5})), ElementsAre(0));
  EXPECT_THAT(RungsWorthHaving(Times({5, 5, 5, 5})), ElementsAre(3));
  EXPECT_THAT(RungsWorthHaving({}), IsEmpty());
}

TEST(RungChoiceTest, RungsWithoutATimeSayNothing) {
  EXPECT_THAT(RungsWorthHaving(Times({0, 0, 0})), ElementsAre(0, 1, 2));
  EXPECT_THAT(RungsWorthHaving(Times({999, 0, 1000})), ElementsAre(1, 2));
  EXPECT_THAT(RungsWorthHaving(Times({10, 20, 0})), ElementsAre(0, 1, 2));
}

TEST(RungChoiceTest, WhatIsDroppedLeavesTheLadderAndWhatGoesWithIt) {
  Ladder ladder = Times({100, 900, 899, 1000});
  std::vector<std::unique_ptr<int>> runners;
  for (const Rung& rung : ladder) {
    runners.push_back(std::make_unique<int>(rung.rows));
  }
  KeepOnly(DropSlowRungs("net/1", ladder), runners);
  ASSERT_EQ(ladder.size(), 3);
  ASSERT_EQ(runners.size(), 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(ladder[i].rows, *runners[i]);
  EXPECT_EQ(ladder[1].rows, 3);
  EXPECT_EQ(ladder[1].p50, absl::Microseconds(899));
}

TEST(RungChoiceTest, AChoiceHoldsForTheSameDimsAndLadder) {
  RungChoices choices;
  choices.Keep({3}, {1, 2, 4}, {4});
  EXPECT_THAT(choices.Find({3}, {1, 2, 4}), Pointee(ElementsAre(4)));
  EXPECT_THAT(choices.Find({3}, {1, 2}), IsNull());
  EXPECT_THAT(choices.Find({4}, {1, 2, 4}), IsNull());
}

TEST(RungChoiceTest, TheOldestChoiceIsForgotten) {
  RungChoices choices(/*bound=*/2);
  for (int i = 0; i < 100; ++i) {
    choices.Keep({i}, {1}, {1});
    EXPECT_LE(choices.size(), 2);
  }
  EXPECT_THAT(choices.Find({97}, {1}), IsNull());
  EXPECT_THAT(choices.Find({98}, {1}), Pointee(ElementsAre(1)));
  EXPECT_THAT(choices.Find({99}, {1}), Pointee(ElementsAre(1)));
}

}  // namespace
}  // namespace reprise
