#include "runtime/ops/batch_rule.h"

#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kMixes = absl::StatusCode::kFailedPrecondition;

// A node with input 0 of `in` and output 0 of `out`, for 2 and for 3 rows.
struct Case {
  Case(Dims in_a_dims, Dims in_b_dims, Dims out_a_dims, Dims out_b_dims,
       BatchState state)
      : in_a{DType::kFp32, std::move(in_a_dims)},
        in_b{DType::kFp32, std::move(in_b_dims)},
        out_a{DType::kFp32, std::move(out_a_dims)},
        out_b{DType::kFp32, std::move(out_b_dims)} {
    view.a.types.push_back(&in_a);
    view.b.types.push_back(&in_b);
    view.out_a = {&out_a};
    view.out_b = {&out_b};
    view.inputs = {state};
    view.rows_a = 2;
    view.rows_b = 3;
  }
  TensorType in_a, in_b, out_a, out_b;
  BatchView view;
};

TEST(RowsByExtentTest, TheAxisThatChangesIsTheBatch) {
  const Case c({2}, {3}, {5, 8}, {5, 12}, BatchState::Fixed());
  EXPECT_EQ(*RowsByExtent(c.view), BatchState::Rows(1, 4));
  const Case same({2}, {3}, {5}, {5}, BatchState::Fixed());
  EXPECT_EQ(*RowsByExtent(same.view), BatchState::Fixed());
}

TEST(RowsByExtentTest, RefusesWhatIsNoMultipleOfTheRows) {
  const Case squared({2}, {3}, {2, 2}, {3, 3}, BatchState::Fixed());
  EXPECT_THAT(RowsByExtent(squared.view),
              StatusIs(kMixes, HasSubstr("several axes")));
  const Case plus_one({2}, {3}, {3}, {4}, BatchState::Fixed());
  EXPECT_THAT(RowsByExtent(plus_one.view),
              StatusIs(kMixes, HasSubstr("axis 0 has 3 elements for 2 rows")));
  const Case rank({2}, {3}, {2}, {3, 1}, BatchState::Fixed());
  EXPECT_THAT(RowsByExtent(rank.view), StatusIs(kMixes, HasSubstr("rank")));
}

TEST(ReshapeBatchRuleTest, WhatStandsBeforeTheBatchMustStay) {
  const Case in_place({4, 2, 6}, {4, 3, 6}, {4, 12}, {4, 18},
                      BatchState::Rows(1, 1));
  EXPECT_EQ(*ReshapeBatch(in_place.view), BatchState::Rows(1, 6));
  const Case moved({4, 2, 6}, {4, 3, 6}, {2, 24}, {3, 24},
                   BatchState::Rows(1, 1));
  EXPECT_THAT(ReshapeBatch(moved.view),
              StatusIs(kMixes, HasSubstr("moves elements across rows")));
}

TEST(MergeRowsTest, EqualPlacesMerge) {
  EXPECT_EQ(*MergeRows(BatchState::Fixed(), BatchState::Rows(1, 2)),
            BatchState::Rows(1, 2));
  EXPECT_EQ(*MergeRows(BatchState::Rows(1, 2), BatchState::Rows(1, 2)),
            BatchState::Rows(1, 2));
  EXPECT_THAT(MergeRows(BatchState::Rows(0, 1), BatchState::Rows(1, 1)),
              StatusIs(kMixes, HasSubstr("axis 0 with one on axis 1")));
  EXPECT_THAT(MergeRows(BatchState::Rows(0, 1), BatchState::Rows(0, 2)),
              StatusIs(kMixes, HasSubstr("other blocks")));
  EXPECT_THAT(MergeRows(BatchState::Count(), BatchState::Fixed()),
              StatusIs(kMixes, HasSubstr("number of rows as data")));
}

TEST(BroadcastBatchTest, AxesCountFromTheEnd) {
  Case c({2, 1}, {3, 1}, {7, 2, 4}, {7, 3, 4}, BatchState::Rows(0, 1));
  EXPECT_EQ(*BroadcastBatch(c.view), BatchState::Rows(1, 1));
}

}  // namespace
}  // namespace reprise::ops
