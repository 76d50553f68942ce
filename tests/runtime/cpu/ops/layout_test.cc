#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cpu/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

std::vector<float> Counted(int n) {
  std::vector<float> values;
  for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(i));
  return values;
}

TEST(LayoutTest, Transposes) {
  EXPECT_THAT(
      Values<float>(
          OpTester("Transpose", 13).In(F32({2, 3}, Counted(6))).Result()),
      ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(Values<float>(OpTester("Transpose", 13)
                                .In(F32({2, 1, 3}, Counted(6)))
                                .Set("perm", std::vector<int64_t>{2, 1, 0})
                                .Result()),
              ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(LayoutTest, ConcatenatesAndSplits) {
  EXPECT_THAT(Values<float>(OpTester("Concat", 13)
                                .In(F32({2, 1}, {1, 2}))
                                .In(F32({2, 2}, {3, 4, 5, 6}))
                                .Set("axis", int64_t{-1})
                                .Result()),
              ElementsAre(1, 3, 4, 2, 5, 6));
  auto parts = OpTester("Split", 13)
                   .In(F32({2, 3}, Counted(6)))
                   .In(I64({2}, {1, 2}))
                   .Set("axis", int64_t{1})
                   .Outputs(2)
                   .Evaluate();
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_THAT(Values<float>((*parts)[0]), ElementsAre(0, 3));
  EXPECT_THAT(Values<float>((*parts)[1]), ElementsAre(1, 2, 4, 5));
}

TEST(LayoutTest, SlicesBackwardsAndToNothing) {
  EXPECT_THAT(Values<float>(OpTester("Slice", 13)
                                .In(F32({5}, Counted(5)))
                                .In(I64({1}, {-1}))
                                .In(I64({1}, {-6}))
                                .In(I64({1}, {0}))
                                .In(I64({1}, {-2}))
                                .Result()),
              ElementsAre(4, 2, 0));
  EXPECT_EQ(OpTester("Slice", 13)
                .In(F32({5}, Counted(5)))
                .In(I64({1}, {0}))
                .In(I64({1}, {5}))
                .In(I64({1}, {0}))
                .In(I64({1}, {-1}))
                .Result()
                .elements(),
            0);
}

TEST(LayoutTest, ExpandsAndTiles) {
  EXPECT_THAT(Values<float>(OpTester("Expand", 13)
                                .In(F32({2, 1}, {1, 2}))
                                .In(I64({2}, {2, 2}))
                                .Result()),
              ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(Values<float>(OpTester("Tile", 13)
                                .In(F32({1, 2}, {1, 2}))
                                .In(I64({2}, {2, 2}))
                                .Result()),
              ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
}

TEST(LayoutTest, DepthGoesToSpaceAndBack) {
  OpTester forth("DepthToSpace", 13);
  forth.In(F32({1, 4, 1, 2}, Counted(8))).Set("blocksize", int64_t{2});
  EXPECT_THAT(Values<float>(forth.Result()),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  OpTester back("SpaceToDepth", 13);
  back.In(forth.Result()).Set("blocksize", int64_t{2});
  EXPECT_THAT(Values<float>(back.Result()),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(LayoutTest, TriluKeepsOneSide) {
  EXPECT_THAT(Values<float>(OpTester("Trilu", 14)
                                .In(F32({2, 2}, {1, 2, 3, 4}))
                                .Set("upper", int64_t{0})
                                .Result()),
              ElementsAre(1, 0, 3, 4));
}

TEST(LayoutTest, DropoutPassesThroughAndDropsNothing) {
  auto outputs =
      OpTester("Dropout", 13).In(F32({2}, {1, 2})).Outputs(2).Evaluate();
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(Values<float>((*outputs)[0]), ElementsAre(1, 2));
  EXPECT_THAT(Values<uint8_t>((*outputs)[1]), ElementsAre(1, 1));
}

TEST(LayoutTest, MovesTensorsOfEveryElementSize) {
  OpTester strided("Transpose", 13);
  strided.In(TensorOf<uint16_t>(DType::kBf16, {2, 2}, {1, 2, 3, 4}));
  EXPECT_THAT(Values<uint16_t>(strided.Result()), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(
      Values<int64_t>(
          OpTester("Transpose", 13).In(I64({2, 2}, {1, 2, 3, 4})).Result()),
      ElementsAre(1, 3, 2, 4));
}

}  // namespace
}  // namespace reprise::cpu
