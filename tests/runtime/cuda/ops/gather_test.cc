#include "runtime/ops/gather.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/ops/op_tester.h"

namespace reprise::cuda {
namespace {

TEST(GatherTest, ChoosesAlongAnyAxis) {
  for (const int64_t axis : {0, 1, 2}) {
    for (const DType dtype : {DType::kFp32, DType::kFp16, DType::kInt64,
                              DType::kBool, DType::kFp64}) {
      OpTester("Gather")
          .In(Numbers(dtype, {3, 4, 5}, 1))
          .In(I64({2, 3}, {0, -1, 2, 1, 1, -3}))
          .Set("axis", axis)
          .ExpectSame(0);
      OpTester("Gather")
          .In(Numbers(dtype, {3, 4, 5}, 1))
          .In(I32({}, {1}))
          .Set("axis", axis)
          .ExpectSame(0);
    }
  }
}

TEST(GatherTest, AnIndexOutOfRangeReadsZeros) {
  OpTester("Gather")
      .In(Noise({3, 8}, 1))
      .In(I64({5}, {3, -4, 1, int64_t{1} << 40, 2}))
      .ExpectSame(0);
}

TEST(GatherTest, RowsOfWholeBlocksAreMovedByThem) {
  OpTester("Gather")
      .In(Noise({30, 384}, 1))
      .In(I64({7}, {3, 4, 1, 0, 2, 29, 9}))
      .ExpectSameBy("reprise_gather_b16_i64<<<3, 256>>>", 0);
  OpTester("Gather")
      .In(Noise({30, 3}, 1))
      .In(I32({2}, {3, 4}))
      .ExpectSameBy("reprise_gather_b4_i32<<<1, 256>>>", 0);
}

}  // namespace
}  // namespace reprise::cuda
