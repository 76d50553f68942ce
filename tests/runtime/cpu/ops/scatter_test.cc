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

TEST(ScatterTest, AnIndexOutOfRangeWritesNothing) {
  OpTester tester("ScatterElements", 13);
  tester.In(F32({3}, {1, 2, 3})).In(I64({2}, {1, 7})).In(F32({2}, {9, 9}));
  auto outputs = tester.Evaluate();
  if (absl::IsUnimplemented(outputs.status())) {
    GTEST_SKIP() << outputs.status();
  }
  EXPECT_THAT(Values<float>((*outputs)[0]), ElementsAre(1, 9, 3));
}

}  // namespace
}  // namespace reprise::cpu
