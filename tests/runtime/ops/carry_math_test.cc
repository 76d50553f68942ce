#include "runtime/ops/carry_math.h"

#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/runtime/ops/ops_testing.h"

namespace reprise::ops {
namespace {

using testing::Carry;
using ::testing::ElementsAre;
using testing::FloatTensor;
using testing::Int64Tensor;
using testing::NodeCase;

TEST(CarryMathTest, ArithmeticBroadcasts) {
  EXPECT_THAT(
      Carry(NodeCase("Add", 13).Ints({1, 2}).Known(Int64Tensor({}, {10}))),
      ElementsAre(11, 12));
  EXPECT_THAT(
      Carry(
          NodeCase("Mul", 13).Known(Int64Tensor({2, 1}, {2, 3})).Ints({5, 7})),
      ElementsAre(10, 14, 15, 21));
  EXPECT_THAT(Carry(NodeCase("Div", 13).Ints({-7}).Ints({2})), ElementsAre(-3));
  EXPECT_THAT(Carry(NodeCase("Mod", 13).Ints({-7}).Ints({3})), ElementsAre(2));
  EXPECT_THAT(Carry(NodeCase("Max", 13).Ints({1, 9}).Ints({5})),
              ElementsAre(5, 9));
  EXPECT_THAT(Carry(NodeCase("Equal", 13).Ints({1, 5}).Ints({5})),
              ElementsAre(0, 1));
}

TEST(CarryMathTest, ModTakesTheSignThatFmodSays) {
  EXPECT_THAT(Carry(NodeCase("Mod", 13).Ints({-7, 7}).Ints({3, -3}).Set(
                  "fmod", int64_t{1})),
              ElementsAre(-1, 1));
  EXPECT_THAT(Carry(NodeCase("Mod", 13).Ints({-7, 7}).Ints({3, -3})),
              ElementsAre(2, -2));
}

TEST(CarryMathTest, TrapsOfIntegerDivision) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(Carry(NodeCase("Div", 13).Ints({1}).Ints({0})),
              ElementsAre(-999));
  EXPECT_THAT(Carry(NodeCase("Div", 13).Ints({least}).Ints({-1})),
              ElementsAre(least));
  EXPECT_THAT(Carry(NodeCase("Mod", 13).Ints({least}).Ints({-1})),
              ElementsAre(0));
}

TEST(CarryMathTest, ShapesMayPassThroughFloats) {
  EXPECT_THAT(Carry(NodeCase("Cast", 13).Ints({3}).Set("to", int64_t{1})),
              ElementsAre(3));
  EXPECT_THAT(Carry(NodeCase("Floor", 13).Known(FloatTensor({1}, {2.5f}))),
              ElementsAre(2));
  EXPECT_THAT(Carry(NodeCase("Cast", 13)
                        .Known(FloatTensor({1}, {-2.7f}))
                        .Set("to", int64_t{7})),
              ElementsAre(-2));
}

TEST(CarryMathTest, ReductionsOfIntegers) {
  EXPECT_THAT(Carry(NodeCase("ReduceProd", 13)
                        .Ints({2, 3, 4})
                        .Set("keepdims", int64_t{0})),
              ElementsAre(24));
  EXPECT_THAT(Carry(NodeCase("ReduceMax", 13)
                        .Known(Int64Tensor({2, 2}, {1, 9, 4, 3}))
                        .Set("axes", std::vector<int64_t>{1})),
              ElementsAre(9, 4));
  // Of nothing there is no maximum to carry.
  EXPECT_THAT(Carry(NodeCase("ReduceMax", 13).Ints({})), ElementsAre(-999));
}

TEST(CarryMathTest, WhereChoosesElementByElement) {
  HostTensor condition = HostTensor::Create(DType::kBool, {2}).value();
  condition.values<uint8_t>()[1] = 1;
  EXPECT_THAT(Carry(NodeCase("Where", 9)
                        .Known(std::move(condition))
                        .Ints({1, 2})
                        .Ints({3})),
              ElementsAre(3, 2));
}

}  // namespace
}  // namespace reprise::ops
