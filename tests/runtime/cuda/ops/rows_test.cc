#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

TEST(RowsTest, SoftmaxOfRowsOfAnyLength) {
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    for (const int64_t length : {1, 10, 32, 100, 257, 700, 3000}) {
      OpTester(op).In(Numbers(DType::kFp32, {5, length}, 1)).ExpectSame();
    }
    OpTester(op).In(Numbers(DType::kFp64, {3, 40}, 1)).ExpectSame();
    OpTester(op).In(Numbers(DType::kFp16, {3, 40}, 1)).ExpectSame(2e-3);
    OpTester(op).In(Numbers(DType::kBf16, {3, 40}, 1)).ExpectSame(2e-2);
    OpTester(op).In(Noise({0, 4}, 1)).ExpectSame();
  }
}

TEST(RowsTest, SoftmaxAlongAnInnerAxis) {
  for (const int64_t axis : {0, 1}) {
    OpTester("Softmax")
        .In(Noise({3, 4, 70}, 1))
        .Set("axis", axis)
        .ExpectSameBy("reprise_softmax_thread_f32");
  }
  // Below opset 13 all from the axis on is one row.
  OpTester("Softmax", 11)
      .In(Noise({3, 4, 70}, 1))
      .ExpectSameBy("reprise_softmax_team_f32<<<3, 64>>>");
}

TEST(RowsTest, MaskedAndLargeNumbers) {
  OpTester("Softmax")
      .In(F32({3, 3}, {-kInf, 1, 2, 1e30F, 1e30F, 0, -kInf, -kInf, -kInf}))
      .ExpectSame();
}

TEST(RowsTest, LayerNormOfRowsOfAnyLength) {
  for (const int64_t length : {1, 10, 384, 1000, 2500}) {
    OpTester("LayerNormalization")
        .In(Numbers(DType::kFp32, {2, 3, length}, 1))
        .In(Noise({length}, 2))
        .In(Noise({length}, 3))
        .ExpectSame(1e-4);
  }
  OpTester("LayerNormalization")
      .In(Numbers(DType::kFp16, {2, 64}, 1))
      .In(Numbers(DType::kFp16, {64}, 2))
      .Set("epsilon", 0.1F)
      .ExpectSame(4e-3);
}

TEST(RowsTest, LayerNormGivesItsMoments) {
  OpTester("LayerNormalization")
      .In(Noise({4, 6, 5}, 1))
      .In(Noise({6, 5}, 2))
      .Set("axis", int64_t{1})
      .Outputs(3)
      .ExpectSameBy("reprise_layer_norm_f32<<<1, 32x4x1>>>", 1e-4);
}

TEST(RowsTest, AScaleThatIsBroadcastWithinTheRowIsRefused) {
  OpTester("LayerNormalization")
      .In(Noise({4, 6}, 1))
      .In(Noise({1}, 2))
      .ExpectSame(1e-4);
  EXPECT_THAT(OpTester("LayerNormalization")
                  .In(Noise({4, 6, 5}, 1))
                  .In(Noise({5}, 2))
                  .Set("axis", int64_t{1})
                  .Status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("broadcast within the row")));
}

}  // namespace
}  // namespace reprise::cuda
