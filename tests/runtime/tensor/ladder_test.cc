#include "runtime/tensor/ladder.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LadderTest, DefaultHasPowersOfTwoAndTheInBetweens) {
  EXPECT_THAT(DefaultLadder(32), ElementsAre(1, 2, 4, 8, 12, 16, 24, 32));
  EXPECT_THAT(DefaultLadder(128),
              ElementsAre(1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128));
}

TEST(LadderTest, DefaultEndsWithTheMaximum) {
  EXPECT_THAT(DefaultLadder(1), ElementsAre(1));
  EXPECT_THAT(DefaultLadder(3), ElementsAre(1, 2, 3));
  EXPECT_THAT(DefaultLadder(12), ElementsAre(1, 2, 4, 8, 12));
  EXPECT_THAT(DefaultLadder(20), ElementsAre(1, 2, 4, 8, 12, 16, 20));
}

TEST(LadderTest, ConfiguredIsSortedWithOneAndTheMaximum) {
  EXPECT_THAT(ConfiguredLadder({6, 2, 6}, 10),
              IsOkAndHolds(ElementsAre(1, 2, 6, 10)));
  EXPECT_THAT(ConfiguredLadder({}, 1), IsOkAndHolds(ElementsAre(1)));
  EXPECT_THAT(ConfiguredLadder({1, 8}, 8), IsOkAndHolds(ElementsAre(1, 8)));
}

TEST(LadderTest, ConfiguredRefusesSizesOutOfRange) {
  EXPECT_THAT(ConfiguredLadder({4, 9}, 8),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("batch size 9 is not in [1, 8]")));
  EXPECT_THAT(ConfiguredLadder({0}, 8),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ConfiguredLadder({-1}, 8),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(LadderTest, TheLogHasTheRungsThatThereAre) {
  const auto of = [](const std::vector<int>& sizes) {
    Ladder ladder(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) ladder[i].rows = sizes[i];
    return ladder;
  };
  EXPECT_EQ(LadderText({1, 2, 4}, of({1, 2, 4})), "ladder=\"1,2,4\"");
  EXPECT_EQ(LadderText({1, 2, 4, 8}, of({2, 8})),
            "ladder=\"2,8\" dropped=\"1,4\"");
}

TEST(LadderTest, RungForRoundsUp) {
  Ladder ladder(3);
  ladder[0].rows = 1;
  ladder[1].rows = 4;
  ladder[2].rows = 8;
  EXPECT_EQ(RungFor(ladder, 1), 0);
  EXPECT_EQ(RungFor(ladder, 2), 1);
  EXPECT_EQ(RungFor(ladder, 4), 1);
  EXPECT_EQ(RungFor(ladder, 8), 2);
  EXPECT_EQ(RungFor(ladder, 9), -1);
}

}  // namespace
}  // namespace reprise
