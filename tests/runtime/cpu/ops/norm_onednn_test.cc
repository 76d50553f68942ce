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

TEST(NormOneDnnTest, SoftmaxAlongAnyAxis) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const int64_t axis : {0, 1, 2}) {
      OpTester tester(op, 13);
      tester.In(Noise({3, 4, 5}, 1)).Set("axis", axis);
      tester.ExpectOneDnn(op);
    }
  }
}

TEST(NormOneDnnTest, LayerNormWithAndWithoutBias) {
  OpTester("LayerNormalization", 17)
      .In(Noise({2, 3, 16}, 1))
      .In(Noise({16}, 2))
      .ExpectOneDnn("LayerNormalization");
  OpTester("LayerNormalization", 17)
      .In(Noise({2, 3, 16}, 1))
      .In(Noise({16}, 2))
      .In(Noise({16}, 3))
      .ExpectOneDnn("LayerNormalization");
}

TEST(NormOneDnnTest, BatchNorm) {
  OpTester("BatchNormalization", 15)
      .In(Noise({2, 5, 4, 3}, 1))
      .In(Noise({5}, 2))
      .In(Noise({5}, 3))
      .In(Noise({5}, 4))
      .In(F32({5}, {1, 2, 0.5F, 0.25F, 3}))
      .ExpectOneDnn("BatchNormalization");
}

TEST(NormOneDnnTest, LrnOfOddSizesOnly) {
  OpTester("LRN", 13)
      .In(Noise({2, 8, 4, 3}, 1))
      .Set("size", int64_t{5})
      .Set("alpha", 0.5F)
      .ExpectOneDnn("LRN");
  OpTester("LRN", 13)
      .In(Noise({2, 8, 4, 3}, 1))
      .Set("size", int64_t{4})
      .Set("alpha", 0.5F)
      .ExpectPlain();
}

}  // namespace
}  // namespace reprise::cpu
