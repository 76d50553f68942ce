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

TEST(GatherTest, AnIndexOutOfRangeReadsZeros) {
  EXPECT_THAT(Values<float>(OpTester("Gather", 13)
                                .In(F32({3, 2}, {1, 2, 3, 4, 5, 6}))
                                .In(I64({4}, {2, -1, 3, -4}))
                                .Result()),
              ElementsAre(5, 6, 5, 6, 0, 0, 0, 0));
}

TEST(GatherTest, GathersAlongAnyAxis) {
  EXPECT_THAT(Values<float>(OpTester("Gather", 13)
                                .In(F32({2, 3}, {1, 2, 3, 4, 5, 6}))
                                .In(I32({2}, {2, 0}))
                                .Set("axis", int64_t{1})
                                .Result()),
              ElementsAre(3, 1, 6, 4));
}

TEST(GatherTest, ElementsFollowTheirOwnIndices) {
  EXPECT_THAT(Values<float>(OpTester("GatherElements", 13)
                                .In(F32({2, 2}, {1, 2, 3, 4}))
                                .In(I64({2, 2}, {0, 0, 1, 9}))
                                .Set("axis", int64_t{1})
                                .Result()),
              ElementsAre(1, 1, 4, 0));
}

TEST(GatherTest, NdFollowsTuples) {
  EXPECT_THAT(Values<float>(OpTester("GatherND", 13)
                                .In(F32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))
                                .In(I64({2, 2}, {1, 0, 0, -1}))
                                .Result()),
              ElementsAre(5, 6, 3, 4));
  EXPECT_THAT(Values<float>(OpTester("GatherND", 13)
                                .In(F32({2, 2}, {1, 2, 3, 4}))
                                .In(I64({2, 1}, {1, 5}))
                                .Set("batch_dims", int64_t{1})
                                .Result()),
              ElementsAre(2, 0));
}

TEST(GatherTest, NdKnowsBatchAxesFromOpset12Only) {
  OpTester nd("GatherND", 11);
  nd.In(F32({2, 2}, {1, 2, 3, 4}))
      .In(I64({2, 1}, {1, 0}))
      .Set("batch_dims", int64_t{1000});
  EXPECT_THAT(Values<float>(nd.Result()), ElementsAre(3, 4, 1, 2));
}

}  // namespace
}  // namespace reprise::cpu
