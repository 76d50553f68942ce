#include "runtime/ops/layout.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/ops/op_tester.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

constexpr DType kTypes[] = {DType::kFp32, DType::kFp16, DType::kInt64,
                            DType::kBool};

TEST(LayoutTest, Transposes) {
  struct Case {
    Dims dims;
    std::vector<int64_t> perm;
  };
  const Case cases[] = {{{3, 5}, {1, 0}},
                        {{40, 70}, {1, 0}},
                        {{2, 33, 64}, {0, 2, 1}},
                        {{2, 3, 4, 8}, {0, 2, 1, 3}},
                        {{2, 3, 4, 5}, {0, 2, 3, 1}},
                        {{2, 3, 4, 5}, {3, 2, 1, 0}},
                        {{2, 3, 4}, {0, 1, 2}},
                        {{1, 1, 1}, {2, 1, 0}}};
  for (const Case& tested : cases) {
    for (const DType dtype : kTypes) {
      OpTester("Transpose")
          .In(Numbers(dtype, tested.dims, 1))
          .Set("perm", tested.perm)
          .ExpectSame(0);
    }
  }
}

TEST(LayoutTest, AMatrixIsTurnedOverByTiles) {
  OpTester("Transpose")
      .In(Noise({40, 70}, 1))
      .ExpectSameBy("reprise_transpose_b4<<<6, 32x8x1>>>");
  // Heads: rows of 8 floats stay together, and move by 16 bytes.
  OpTester("Transpose")
      .In(Noise({2, 3, 4, 8}, 1))
      .Set("perm", std::vector<int64_t>{0, 2, 1, 3})
      .ExpectSameBy("reprise_move_b16<<<1, 256>>>");
}

TEST(LayoutTest, Concatenates) {
  for (const DType dtype : kTypes) {
    for (const int64_t axis : {0, 1, 2}) {
      Dims other{2, 4, 6};
      other[static_cast<size_t>(axis)] = 3;
      OpTester("Concat")
          .In(Numbers(dtype, {2, 4, 6}, 1))
          .In(Numbers(dtype, other, 2))
          .In(Numbers(dtype, {2, 4, 6}, 3))
          .Set("axis", axis)
          .ExpectSame(0);
    }
  }
  OpTester("Concat")
      .In(Noise({2, 4}, 1))
      .In(Noise({3, 4}, 2))
      .Set("axis", int64_t{0})
      .ExpectSameBy("copy 48 bytes in1 -> out0+32");
}

TEST(LayoutTest, Splits) {
  for (const DType dtype : kTypes) {
    OpTester("Split")
        .In(Numbers(dtype, {4, 9, 3}, 1))
        .In(I64({3}, {2, 3, 4}))
        .Weights({1})
        .Set("axis", int64_t{1})
        .Outputs(3)
        .ExpectSame(0);
  }
}

TEST(LayoutTest, Slices) {
  const auto slice = [](std::vector<int64_t> starts, std::vector<int64_t> ends,
                        std::vector<int64_t> steps) {
    OpTester("Slice")
        .In(Noise({8, 10}, 1))
        .In(I64({2}, starts))
        .In(I64({2}, ends))
        .In(I64({2}, {0, 1}))
        .In(I64({2}, steps))
        .Weights({1, 2, 3, 4})
        .ExpectSame(0);
  };
  slice({1, 2}, {7, 9}, {1, 1});
  slice({7, 9}, {-100, 0}, {-1, -3});
  slice({0, 4}, {8, 8}, {2, 1});
  slice({3, 3}, {3, 9}, {1, 1});
}

TEST(LayoutTest, RepeatsElements) {
  OpTester("Expand")
      .In(Noise({3, 1}, 1))
      .In(I64({3}, {2, 3, 4}))
      .Weights({1})
      .ExpectSame(0);
  OpTester("Tile")
      .In(Numbers(DType::kInt64, {2, 3}, 1))
      .In(I64({2}, {3, 2}))
      .Weights({1})
      .ExpectSame(0);
}

TEST(LayoutTest, PadsAndCrops) {
  const auto pad = [](std::vector<int64_t> pads, DType dtype) {
    return OpTester("Pad")
        .In(Numbers(dtype, {3, 5}, 1))
        .In(I64({4}, pads))
        .In(TensorOf(dtype, {}, std::vector<uint64_t>(1)))
        .Weights({1, 2});
  };
  for (const std::vector<int64_t>& pads :
       {std::vector<int64_t>{1, 2, 0, 3}, std::vector<int64_t>{-1, 2, 1, -4},
        std::vector<int64_t>{-4, 0, 5, 0}}) {
    pad(pads, DType::kInt64).ExpectSame(0);
  }
  OpTester("Pad")
      .In(Noise({3, 5}, 1))
      .In(I64({4}, {1, 0, 0, 2}))
      .In(F32({}, {-1.5F}))
      .Weights({1, 2})
      .ExpectSame(0);
  EXPECT_THAT(OpTester("Pad")
                  .In(Noise({3, 5}, 1))
                  .In(I64({4}, {1, 0, 0, 2}))
                  .Weights({1})
                  .Set("mode", std::string("reflect"))
                  .Status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("only constant padding")));
}

TEST(LayoutTest, OtherDimsAreAView) {
  OpTester("Reshape")
      .In(Noise({4, 6}, 1))
      .In(I64({3}, {2, -1, 3}))
      .Weights({1})
      .ExpectSameBy("step 0 Copy\n  copy 96 bytes out0 -> out0#out");
  OpTester("Flatten").In(Noise({4, 2, 3}, 1)).ExpectSame(0);
}

}  // namespace
}  // namespace reprise::cuda
