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

const std::vector<float> kSquare = {1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(PoolTest, MaxPoolAndItsIndices) {
  auto outputs = OpTester("MaxPool", 12)
                     .In(F32({1, 1, 3, 3}, kSquare))
                     .Set("kernel_shape", std::vector<int64_t>{2, 2})
                     .Set("storage_order", int64_t{1})
                     .Outputs(2)
                     .Evaluate();
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(Values<float>((*outputs)[0]), ElementsAre(5, 6, 8, 9));
  EXPECT_THAT(Values<int64_t>((*outputs)[1]), ElementsAre(4, 7, 5, 8));
}

TEST(PoolTest, AveragesWithAndWithoutPadding) {
  const auto pool = [](int64_t include) {
    return OpTester("AveragePool", 11)
        .In(F32({1, 1, 2}, {4, 8}))
        .Set("kernel_shape", std::vector<int64_t>{2})
        .Set("pads", std::vector<int64_t>{1, 0})
        .Set("count_include_pad", include)
        .Result();
  };
  EXPECT_THAT(Values<float>(pool(0)), ElementsAre(4, 6));
  EXPECT_THAT(Values<float>(pool(1)), ElementsAre(2, 6));
}

TEST(PoolTest, GlobalPoolsTakeWholePlanes) {
  EXPECT_THAT(Values<float>(OpTester("GlobalAveragePool", 1)
                                .In(F32({1, 1, 3, 3}, kSquare))
                                .Result()),
              ElementsAre(5));
  EXPECT_THAT(
      Values<float>(
          OpTester("GlobalMaxPool", 1).In(F32({1, 1, 3, 3}, kSquare)).Result()),
      ElementsAre(9));
}

}  // namespace
}  // namespace reprise::cpu
