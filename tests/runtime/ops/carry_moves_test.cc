#include "runtime/ops/carry_moves.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::Carry;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::Int64Tensor;
using testing::NodeCase;

TEST(CarryMovesTest, WhatMovesElements) {
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
}

TEST(CarryMovesTest, TheIdiomOfTorchPadFoldsToConstantPads) {
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

TEST(CarryMovesTest, AnIndexOutOfRangeIsAnError) {
  NodeCase node("Gather", 13);
  node.Ints({4, 5}).Known(Int64Tensor({}, {2}));
  EXPECT_THAT(CarryGather(node.view(), (*node.Infer())[0]),
              testing::StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace reprise::ops
