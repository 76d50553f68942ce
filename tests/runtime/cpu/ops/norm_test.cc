#include <cmath>

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

TEST(NormTest, BatchNormScalesEachChannel) {
  EXPECT_THAT(Values<float>(OpTester("BatchNormalization", 15)
                                .In(F32({1, 2, 2}, {1, 2, 3, 4}))
                                .In(F32({2}, {2, 1}))
                                .In(F32({2}, {0, 10}))
                                .In(F32({2}, {1, 3}))
                                .In(F32({2}, {4, 1}))
                                .Set("epsilon", 0.0F)
                                .Result()),
              ElementsAre(0, 1, 10, 11));
}

TEST(NormTest, BatchNormTakesParametersOfOtherDatatypes) {
  const HostTensor y =
      OpTester("BatchNormalization", 15)
          .In(F32({2, 2}, {1, 2, 3, 4}))
          .In(TensorOf<Half>(DType::kFp16, {2}, {Half(2), Half(1)}))
          .In(TensorOf<double>(DType::kFp64, {2}, {0, 10}))
          .In(F32({2}, {1, 3}))
          .In(TensorOf<Half>(DType::kFp16, {2}, {Half(4), Half(1)}))
          .Set("epsilon", 0.0F)
          .Result();
  EXPECT_THAT(Values<float>(y), ElementsAre(0, 9, 2, 11));
}

TEST(NormTest, LayerNormBroadcastsItsParameters) {
  // Rows of the inner axes have a scale each, columns a bias each.
  const HostTensor y = OpTester("LayerNormalization", 17)
                           .In(F32({1, 2, 2}, {1, 1, 3, 3}))
                           .In(F32({2, 1}, {10, 20}))
                           .In(F32({2}, {0, 5}))
                           .Set("axis", int64_t{1})
                           .Set("epsilon", 0.0F)
                           .Result();
  EXPECT_THAT(Values<float>(y),
              Pointwise(::testing::FloatEq(), {-10.0F, -5.0F, 20.0F, 25.0F}));
}

TEST(NormTest, LayerNormHasMeanZero) {
  const HostTensor y = OpTester("LayerNormalization", 17)
                           .In(F32({1, 2}, {1, 3}))
                           .In(F32({2}, {1, 2}))
                           .In(F32({2}, {0, 1}))
                           .Set("epsilon", 0.0F)
                           .Result();
  EXPECT_THAT(Values<float>(y), Pointwise(::testing::FloatEq(), {-1.0F, 3.0F}));
}

TEST(NormTest, InstanceNormTakesEachPlaneAlone) {
  const HostTensor y = OpTester("InstanceNormalization", 6)
                           .In(F32({1, 2, 2}, {1, 3, 10, 30}))
                           .In(F32({2}, {1, 1}))
                           .In(F32({2}, {0, 5}))
                           .Set("epsilon", 0.0F)
                           .Result();
  EXPECT_THAT(Values<float>(y),
              Pointwise(::testing::FloatEq(), {-1.0F, 1.0F, 4.0F, 6.0F}));
}

TEST(NormTest, LrnDividesByItsNeighbours) {
  const HostTensor y = OpTester("LRN", 13)
                           .In(F32({1, 3, 1, 1}, {1, 2, 3}))
                           .Set("size", int64_t{3})
                           .Set("alpha", 3.0F)
                           .Set("beta", 1.0F)
                           .Set("bias", 1.0F)
                           .Result();
  EXPECT_NEAR(y.values<float>()[0], 1.0 / 6, 1e-6);
  EXPECT_NEAR(y.values<float>()[1], 2.0 / 15, 1e-6);
}

}  // namespace
}  // namespace reprise::cpu
