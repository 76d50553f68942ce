#include "runtime/ops/reduce.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::StatusIs;

const std::string kOps[] = {"ReduceL1",        "ReduceL2",   "ReduceLogSum",
                            "ReduceLogSumExp", "ReduceMax",  "ReduceMean",
                            "ReduceMin",       "ReduceProd", "ReduceSum",
                            "ReduceSumSquare"};

TEST(ReduceTest, OverAnyAxes) {
  for (const std::string& op : kOps) {
    for (const std::vector<int64_t>& axes :
         {std::vector<int64_t>{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}}) {
      OpTester(op).In(Noise({3, 40, 5}, 1)).Set("axes", axes).ExpectSame(1e-4);
      OpTester(op)
          .In(Noise({2, 5, 300}, 1))
          .Set("axes", axes)
          .Set("keepdims", int64_t{0})
          .ExpectSame(1e-4);
    }
  }
}

TEST(ReduceTest, OfOtherTypes) {
  for (const std::string& op : kOps) {
    OpTester(op)
        .In(Numbers(DType::kFp64, {3, 40}, 1))
        .Set("axes", std::vector<int64_t>{1})
        .ExpectSame();
    if (op == "ReduceL2" || op == "ReduceLogSum" || op == "ReduceLogSumExp") {
      continue;
    }
    for (const DType dtype : {DType::kInt32, DType::kInt64}) {
      OpTester(op)
          .In(Numbers(dtype, {3, 40}, 1))
          .Set("axes", std::vector<int64_t>{1})
          .ExpectSame();
      OpTester(op)
          .In(Numbers(dtype, {3, 40}, 1))
          .Set("axes", std::vector<int64_t>{0})
          .ExpectSame();
    }
  }
  OpTester("ReduceMean")
      .In(Numbers(DType::kFp16, {3, 40}, 1))
      .Set("axes", std::vector<int64_t>{1})
      .ExpectSame(2e-3);
  EXPECT_THAT(
      OpTester("ReduceSum", 18).In(Numbers(DType::kUint8, {3}, 1)).Status(),
      StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(ReduceTest, NoElementsAndNoAxes) {
  for (const std::string op : {"ReduceSum", "ReduceMax", "ReduceMin",
                               "ReduceProd", "ReduceLogSumExp"}) {
    OpTester(op, 20)
        .In(Noise({3, 0}, 1))
        .In(I64({1}, {1}))
        .Weights({1})
        .ExpectSame();
  }
  OpTester("ReduceSum").In(Noise({3}, 1)).ExpectSame();
  OpTester("ReduceSum")
      .In(Noise({3}, 1))
      .Set("noop_with_empty_axes", int64_t{1})
      .ExpectSame(0);
}

TEST(ReduceTest, NanAndInfinityComeThrough) {
  for (const std::string& op : kOps) {
    OpTester(op)
        .In(F32({3, 3}, {1, kNan, 2, kInf, 1, 2, -kInf, -kInf, -kInf}))
        .Set("axes", std::vector<int64_t>{1})
        .ExpectSame();
  }
}

TEST(ReduceTest, RowsAreSharedByTeamsAndColumnsByThreads) {
  OpTester("ReduceMean")
      .In(Noise({7, 384}, 1))
      .Set("axes", std::vector<int64_t>{1})
      .ExpectSameBy("reprise_reducemean_team_f32<<<7, 64>>>");
  OpTester("ReduceSum", 11)
      .In(Noise({20, 384}, 1))
      .Set("axes", std::vector<int64_t>{0})
      .ExpectSameBy("reprise_reducesum_thread_f32<<<2, 256>>>");
}

}  // namespace
}  // namespace reprise::cuda
