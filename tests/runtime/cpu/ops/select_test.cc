#include <cstdint>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cpu/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

TEST(SelectTest, WhereBroadcastsAllThree) {
  EXPECT_THAT(Values<float>(OpTester("Where", 16)
                                .In(Bool({2, 1}, {3, 0}))
                                .In(F32({2}, {1, 2}))
                                .In(F32({}, {9}))
                                .Result()),
              ElementsAre(1, 2, 9, 9));
}

TEST(SelectTest, CastClampsWhatDoesNotFit) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(Values<int32_t>(OpTester("Cast", 13)
                                  .In(F32({4}, {1.9F, -1.9F, 1e20F, nan}))
                                  .Set("to", int64_t{6})
                                  .Result()),
              ElementsAre(1, -1, std::numeric_limits<int32_t>::max(), 0));
}

TEST(SelectTest, CastGoesThroughTheSixteenBitFloats) {
  OpTester tester("Cast", 13);
  tester.In(F32({2}, {1.5F, 65520.0F})).Set("to", int64_t{10});
  const HostTensor half = tester.Result();
  EXPECT_EQ(half.values<uint16_t>()[0], 0x3e00);
  EXPECT_EQ(half.values<uint16_t>()[1], 0x7c00);
  OpTester to_bool("Cast", 13);
  to_bool.In(F32({3}, {0, -0.5F, std::numeric_limits<float>::quiet_NaN()}))
      .Set("to", int64_t{9});
  EXPECT_THAT(Values<uint8_t>(to_bool.Result()), ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace reprise::cpu
