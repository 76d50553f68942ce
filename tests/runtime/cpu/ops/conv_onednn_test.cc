#include <cstdint>
#include <string>
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

OpTester Conv2d(int64_t channels, int64_t filters, int64_t group) {
  OpTester tester("Conv", 11);
  tester.In(Noise({2, channels, 9, 7}, 1))
      .In(Noise({filters, channels / group, 3, 3}, 2))
      .In(Noise({filters}, 3))
      .Set("group", group)
      .Set("pads", std::vector<int64_t>{1, 0, 1, 2});
  return tester;
}

TEST(ConvOneDnnTest, GivesTheLoopsAnswer) {
  Conv2d(3, 8, 1).ExpectOneDnn("Conv");
  Conv2d(16, 32, 1).ExpectOneDnn("Conv");
  Conv2d(16, 16, 16).ExpectOneDnn("Conv");
  Conv2d(12, 6, 3).ExpectOneDnn("Conv");
}

TEST(ConvOneDnnTest, TakesWeightsThatAreComputed) {
  Conv2d(4, 8, 1).ExpectOneDnn("Conv", {0, 1, 2});
  Conv2d(4, 8, 2).ExpectOneDnn("Conv", {0, 1});
}

TEST(ConvOneDnnTest, StridesThatLeaveARestOver) {
  Conv2d(8, 8, 1)
      .Set("strides", std::vector<int64_t>{2, 3})
      .Set("dilations", std::vector<int64_t>{2, 1})
      .ExpectOneDnn("Conv");
}

TEST(ConvOneDnnTest, AppliesEachActivation) {
  for (const char* word : {"Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh",
                           "HardSigmoid", "HardSwish", "Silu"}) {
    OpTester tester = Conv2d(8, 16, 1);
    const std::string name = word;
    const bool hard_swish = name == "HardSwish";
    tester.Set("activation", name)
        .Set("activation_alpha", hard_swish ? 1.0F / 6 : 0.2F)
        .Set("activation_beta", hard_swish ? 0.5F : 0.6F);
    tester.ExpectOneDnn("Conv");
  }
}

TEST(ConvOneDnnTest, ConvolvesOneAndThreeAxes) {
  OpTester one("Conv", 11);
  one.In(Noise({2, 4, 16}, 1)).In(Noise({8, 4, 5}, 2));
  one.ExpectOneDnn("Conv");
  OpTester three("Conv", 11);
  three.In(Noise({1, 2, 5, 4, 6}, 1)).In(Noise({3, 2, 2, 2, 2}, 2));
  three.ExpectOneDnn("Conv");
}

}  // namespace
}  // namespace reprise::cpu
