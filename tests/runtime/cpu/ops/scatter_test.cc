#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cpu/ops/op_tester.h"

namespace reprise::cpu {
namespace {

using ::testing::ElementsAre;

TEST(ScatterTest, AnIndexOutOfRangeWritesNothing) {
  EXPECT_THAT(Values<float>(OpTester("ScatterElements", 13)
                                .In(F32({3}, {1, 2, 3}))
                                .In(I64({2}, {1, 7}))
                                .In(F32({2}, {9, 9}))
                                .Result()),
              ElementsAre(1, 9, 3));
  EXPECT_THAT(Values<float>(OpTester("ScatterND", 13)
                                .In(F32({2, 2}, {1, 2, 3, 4}))
                                .In(I64({2, 2}, {1, 0, 0, 2}))
                                .In(F32({2}, {9, 8}))
                                .Result()),
              ElementsAre(1, 2, 9, 4));
}

TEST(ScatterTest, ElementsGoAlongAnAxis) {
  EXPECT_THAT(Values<float>(OpTester("ScatterElements", 13)
                                .In(F32({2, 3}, {1, 2, 3, 4, 5, 6}))
                                .In(I32({1, 2}, {-1, 0}))
                                .In(F32({1, 2}, {9, 8}))
                                .Set("axis", int64_t{1})
                                .Result()),
              ElementsAre(8, 2, 9, 4, 5, 6));
  EXPECT_THAT(Values<float>(OpTester("Scatter", 10)
                                .In(F32({2, 2}, {1, 2, 3, 4}))
                                .In(I64({1, 2}, {1, 0}))
                                .In(F32({1, 2}, {9, 8}))
                                .Result()),
              ElementsAre(1, 8, 9, 4));
}

TEST(ScatterTest, NdWritesWholeSlices) {
  EXPECT_THAT(Values<int32_t>(OpTester("ScatterND", 13)
                                  .In(I32({3, 2}, {1, 2, 3, 4, 5, 6}))
                                  .In(I64({2, 1}, {2, -3}))
                                  .In(I32({2, 2}, {9, 8, 7, 6}))
                                  .Result()),
              ElementsAre(7, 6, 3, 4, 9, 8));
}

TEST(ScatterTest, ValuesMayBeCombined) {
  const auto combine = [](const char* how) {
    return Values<float>(OpTester("ScatterElements", 18)
                             .In(F32({2}, {4, 5}))
                             .In(I64({3}, {0, 0, 1}))
                             .In(F32({3}, {2, 3, 9}))
                             .Set("reduction", std::string(how))
                             .Result());
  };
  EXPECT_THAT(combine("add"), ElementsAre(9, 14));
  EXPECT_THAT(combine("mul"), ElementsAre(24, 45));
  EXPECT_THAT(combine("max"), ElementsAre(4, 9));
  EXPECT_THAT(combine("min"), ElementsAre(2, 5));
  const HostTensor half =
      OpTester("ScatterND", 16)
          .In(TensorOf<Half>(DType::kFp16, {2}, {Half(1), Half(2)}))
          .In(I64({1, 1}, {1}))
          .In(TensorOf<Half>(DType::kFp16, {1}, {Half(0.5F)}))
          .Set("reduction", std::string("add"))
          .Result();
  EXPECT_EQ(static_cast<float>(half.values<Half>()[1]), 2.5F);
}

TEST(ScatterTest, OneHotLeavesOutWhatIsOutOfRange) {
  EXPECT_THAT(Values<float>(OpTester("OneHot", 11)
                                .In(I64({3}, {1, -1, 5}))
                                .In(I64({}, {3}))
                                .In(F32({2}, {0, 7}))
                                .Result()),
              ElementsAre(0, 7, 0, 0, 0, 7, 0, 0, 0));
  // Indices of any number, values of any size.
  EXPECT_THAT(Values<int64_t>(OpTester("OneHot", 11)
                                  .In(F32({2}, {0, 1}))
                                  .In(I64({1}, {2}))
                                  .In(I64({2}, {-1, 1}))
                                  .Set("axis", int64_t{0})
                                  .Result()),
              ElementsAre(1, -1, -1, 1));
}

TEST(ScatterTest, CombinedIntegersWrapAround) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  const auto combine = [](const char* how) {
    return Values<int64_t>(OpTester("ScatterElements", 18)
                               .In(I64({1}, {most}))
                               .In(I64({1}, {0}))
                               .In(I64({1}, {2}))
                               .Set("reduction", std::string(how))
                               .Result());
  };
  EXPECT_THAT(combine("add"),
              ElementsAre(std::numeric_limits<int64_t>::min() + 1));
  EXPECT_THAT(combine("mul"), ElementsAre(-2));
}

}  // namespace
}  // namespace reprise::cpu
