#include "runtime/ops/carry_values.h"

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

TEST(CarryValuesTest, MakersNeedShapesAlone) {
  EXPECT_THAT(Carry(NodeCase("Range", 11)
                        .Known(Int64Tensor({}, {2}))
                        .Known(Int64Tensor({}, {8}))
                        .Known(Int64Tensor({}, {3}))),
              ElementsAre(2, 5));
  EXPECT_THAT(Carry(NodeCase("ConstantOfShape", 9).Ints({2})),
              ElementsAre(0, 0));
}

TEST(CarryValuesTest, LargeValuesAreLeftAlone) {
  const std::vector<int64_t> many(kMaxCarriedElements + 1, 1);
  EXPECT_THAT(Carry(NodeCase("Neg", 13).Ints(many)), ElementsAre(-999));
  EXPECT_THAT(
      Carry(NodeCase("ConstantOfShape", 9).Ints({kMaxCarriedElements + 1})),
      ElementsAre(-999));
}

TEST(CarryValuesTest, ARangeOfFloatsIsRoundedAtEachStep) {
  NodeCase node("Range", 11);
  node.Known(FloatTensor({}, {-0.3F}))
      .Known(FloatTensor({}, {0.05F}))
      .Known(FloatTensor({}, {0.1F}));
  const auto types = node.Infer();
  ASSERT_TRUE(types.ok()) << types.status();
  const auto values = CarryValues(node.view(), *types);
  ASSERT_TRUE(values.ok()) << values.status();
  ASSERT_EQ((*values)[0].elements(), 4);
  EXPECT_EQ((*values)[0].values<float>()[3], -0.3F + 3.0F * 0.1F);
}

}  // namespace
}  // namespace reprise::ops
