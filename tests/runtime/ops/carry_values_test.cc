#include "runtime/ops/carry_values.h"

#include <limits>
#include <vector>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::FloatTensor;
using testing::Int64Tensor;
using ::testing::IsEmpty;
using testing::NodeCase;

// Output `i` as INT64; {-999} if the node is not carried.
std::vector<int64_t> Carry(NodeCase& node, size_t i = 0) {
  const auto types = node.Infer();
  EXPECT_TRUE(types.ok()) << types.status();
  const auto values = CarryValues(node.view(), *types);
  EXPECT_TRUE(values.ok()) << values.status();
  if (!values.ok() || values->empty()) return {-999};
  EXPECT_EQ((*values)[i].dtype(), (*types)[i].dtype);
  EXPECT_EQ((*values)[i].dims(), (*types)[i].dims);
  if ((*values)[i].dtype() == DType::kBool) {
    const auto bools = (*values)[i].values<uint8_t>();
    return {bools.begin(), bools.end()};
  }
  if ((*values)[i].dtype() == DType::kFp32) {
    const auto floats = (*values)[i].values<float>();
    return {floats.begin(), floats.end()};
  }
  const auto ints = (*values)[i].values<int64_t>();
  return {ints.begin(), ints.end()};
}
TEST(CarryValuesTest, ShapeAndSizeNeedNoValues) {
  EXPECT_THAT(Carry(NodeCase("Shape", 13).In({2, 5})), ElementsAre(2, 5));
  EXPECT_THAT(Carry(NodeCase("Shape", 15).In({2, 5}).Set("start", int64_t{1})),
              ElementsAre(5));
  EXPECT_THAT(Carry(NodeCase("Size", 13).In({2, 5})), ElementsAre(10));
}

TEST(CarryValuesTest, AnUnknownInputIsNotCarried) {
  EXPECT_THAT(Carry(NodeCase("Add", 13).Ints({1}).In({1}, DType::kInt64)),
              ElementsAre(-999));
}

TEST(CarryValuesTest, ArithmeticBroadcasts) {
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

TEST(CarryValuesTest, TrapsOfIntegerDivision) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(Carry(NodeCase("Div", 13).Ints({1}).Ints({0})),
              ElementsAre(-999));
  EXPECT_THAT(Carry(NodeCase("Div", 13).Ints({least}).Ints({-1})),
              ElementsAre(least));
  EXPECT_THAT(Carry(NodeCase("Mod", 13).Ints({least}).Ints({-1})),
              ElementsAre(0));
}

TEST(CarryValuesTest, ShapesMayPassThroughFloats) {
  EXPECT_THAT(Carry(NodeCase("Cast", 13).Ints({3}).Set("to", int64_t{1})),
              ElementsAre(3));
  EXPECT_THAT(Carry(NodeCase("Floor", 13).Known(FloatTensor({1}, {2.5f}))),
              ElementsAre(2));
  EXPECT_THAT(Carry(NodeCase("Cast", 13)
                        .Known(FloatTensor({1}, {-2.7f}))
                        .Set("to", int64_t{7})),
              ElementsAre(-2));
}

TEST(CarryValuesTest, WhatMovesElements) {
  EXPECT_THAT(
      Carry(
          NodeCase("Gather", 13).Ints({4, 5, 6}).Known(Int64Tensor({}, {-1}))),
      ElementsAre(6));
  EXPECT_THAT(Carry(NodeCase("Slice", 13)
                        .Ints({4, 5, 6})
                        .Ints({-1})
                        .Ints({-9})
                        .Ints({0})
                        .Ints({-1})),
              ElementsAre(6, 5, 4));
  EXPECT_THAT(Carry(NodeCase("Concat", 13)
                        .Known(Int64Tensor({2, 1}, {1, 2}))
                        .Known(Int64Tensor({2, 2}, {3, 4, 5, 6}))
                        .Set("axis", int64_t{1})),
              ElementsAre(1, 3, 4, 2, 5, 6));
  EXPECT_THAT(
      Carry(NodeCase("Transpose", 13).Known(Int64Tensor({2, 2}, {1, 2, 3, 4}))),
      ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(Carry(NodeCase("Expand", 13).Ints({7}).Ints({2, 1})),
              ElementsAre(7, 7));
  EXPECT_THAT(Carry(NodeCase("Unsqueeze", 13).Ints({7, 8}).Ints({0})),
              ElementsAre(7, 8));
  EXPECT_THAT(
      Carry(NodeCase("Split", 13).Ints({7, 8, 9}).Ints({1, 2}).Outputs(2), 1),
      ElementsAre(8, 9));
  EXPECT_THAT(Carry(NodeCase("Where", 9)
                        .Known([] {
                          HostTensor t =
                              HostTensor::Create(DType::kBool, {2}).value();
                          t.values<uint8_t>()[1] = 1;
                          return t;
                        }())
                        .Ints({1, 2})
                        .Ints({3})),
              ElementsAre(3, 2));
}

TEST(CarryValuesTest, MakersAndReductions) {
  EXPECT_THAT(Carry(NodeCase("Range", 11)
                        .Known(Int64Tensor({}, {2}))
                        .Known(Int64Tensor({}, {8}))
                        .Known(Int64Tensor({}, {3}))),
              ElementsAre(2, 5));
  EXPECT_THAT(Carry(NodeCase("ConstantOfShape", 9).Ints({2})),
              ElementsAre(0, 0));
  EXPECT_THAT(Carry(NodeCase("ReduceProd", 13)
                        .Ints({2, 3, 4})
                        .Set("keepdims", int64_t{0})),
              ElementsAre(24));
}

TEST(CarryValuesTest, TheIdiomOfTorchPadFoldsToConstantPads) {
  // [0,0,0,0,1,2] -> pairs -> reversed -> transposed -> flat.
  NodeCase reshape("Reshape", 13);
  reshape.Ints({1, 2, 0, 0, 0, 0}).Ints({-1, 2});
  const std::vector<int64_t> pairs = Carry(reshape);
  NodeCase slice("Slice", 13);
  slice.Known(Int64Tensor({3, 2}, pairs))
      .Ints({-1})
      .Ints({std::numeric_limits<int64_t>::min()})
      .Ints({0})
      .Ints({-1});
  const std::vector<int64_t> reversed = Carry(slice);
  EXPECT_THAT(
      Carry(NodeCase("Transpose", 13).Known(Int64Tensor({3, 2}, reversed))),
      ElementsAreArray({0, 0, 1, 0, 0, 2}));
}

TEST(CarryValuesTest, LargeValuesAreLeftAlone) {
  const std::vector<int64_t> many(kMaxCarriedElements + 1, 1);
  EXPECT_THAT(Carry(NodeCase("Neg", 13).Ints(many)), ElementsAre(-999));
  EXPECT_THAT(
      Carry(NodeCase("ConstantOfShape", 9).Ints({kMaxCarriedElements + 1})),
      ElementsAre(-999));
}

TEST(CarryValuesTest, AnIndexOutOfRangeIsAnError) {
  NodeCase node("Gather", 13);
  node.Ints({4, 5}).Known(Int64Tensor({}, {2}));
  EXPECT_THAT(CarryValues(node.view(), *node.Infer()),
              testing::StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace reprise::ops
