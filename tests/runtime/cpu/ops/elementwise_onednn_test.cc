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

TEST(ElementwiseOneDnnTest, FunctionsOfLargeTensors) {
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "Exp", "Softplus", "Mish",
                         "HardSwish", "Elu", "LeakyRelu", "Gelu", "Clip"}) {
    OpTester tester(op, 20);
    tester.In(Noise({3, 40, 40, 8}, 1));
    tester.ExpectOneDnn(op);
  }
}

TEST(ElementwiseOneDnnTest, SmallTensorsAreLeftToTheLoop) {
  OpTester("Relu", 14).In(Noise({2, 8}, 1)).ExpectPlain();
  OpTester("Add", 14).In(Noise({2, 8}, 1)).In(Noise({8}, 2)).ExpectPlain();
}

TEST(ElementwiseOneDnnTest, ArithmeticOfLargeTensors) {
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    OpTester(op, 14)
        .In(Noise({4, 16, 32, 32}, 1))
        .In(Noise({4, 16, 32, 32}, 2))
        .ExpectOneDnn(op, {0, 1});
    OpTester(op, 14)
        .In(Noise({4, 16, 32, 32}, 1))
        .In(Noise({16, 1, 1}, 2))
        .ExpectOneDnn(op);
  }
}

}  // namespace
}  // namespace reprise::cpu
