#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cpu/ops/op_tester.h"

namespace reprise::cpu {
namespace {

using ::testing::ElementsAre;

TEST(ScanTest, FindsTheFirstOrTheLast) {
  EXPECT_THAT(
      Values<int64_t>(OpTester("ArgMax", 13).In(F32({3}, {1, 5, 5})).Result()),
      ElementsAre(1));
  EXPECT_THAT(Values<int64_t>(OpTester("ArgMin", 13)
                                  .In(F32({3}, {1, 1, 5}))
                                  .Set("select_last_index", int64_t{1})
                                  .Result()),
              ElementsAre(1));
}

TEST(ScanTest, SumsUp) {
  EXPECT_THAT(Values<float>(OpTester("CumSum", 14)
                                .In(F32({3}, {1, 2, 3}))
                                .In(I64({}, {0}))
                                .Set("reverse", int64_t{1})
                                .Set("exclusive", int64_t{1})
                                .Result()),
              ElementsAre(5, 3, 0));
}

TEST(ScanTest, LinesMayBeLongAndLieApart) {
  std::vector<int8_t> x;
  for (int i = 0; i < 600; ++i) {
    x.push_back(i == 517 ? 9 : 1);
    x.push_back(i == 3 ? -7 : 2);
  }
  const auto input = [&] {
    return TensorOf<int8_t>(DType::kInt8, {600, 2}, x);
  };
  EXPECT_THAT(Values<int64_t>(OpTester("ArgMax", 13).In(input()).Result()),
              ElementsAre(517, 0));
  EXPECT_THAT(Values<int64_t>(OpTester("ArgMin", 13).In(input()).Result()),
              ElementsAre(0, 3));
}

TEST(ScanTest, SumsOfIntegersWrapAround) {
  const int32_t most = std::numeric_limits<int32_t>::max();
  EXPECT_THAT(Values<int32_t>(OpTester("CumSum", 14)
                                  .In(I32({3}, {most, 1, 1}))
                                  .In(I64({}, {0}))
                                  .Result()),
              ElementsAre(most, -most - 1, -most));
}

TEST(ScanTest, ALongSumIsOneSum) {
  for (const int64_t reverse : {0, 1}) {
    const HostTensor sum = OpTester("CumSum", 14)
                               .In(F32({2, 600}, std::vector<float>(1200, 1)))
                               .In(I64({}, {1}))
                               .Set("reverse", reverse)
                               .Result();
    EXPECT_EQ(sum.values<float>()[0], reverse == 0 ? 1 : 600);
    EXPECT_EQ(sum.values<float>()[300], reverse == 0 ? 301 : 300);
    EXPECT_EQ(sum.values<float>()[1199], reverse == 0 ? 600 : 1);
  }
}

}  // namespace
}  // namespace reprise::cpu
