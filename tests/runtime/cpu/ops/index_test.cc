#include "runtime/cpu/ops/index.h"

#include "gtest/gtest.h"

namespace reprise::cpu {
namespace {

TEST(IndexTest, CountsFromTheEndBelowZero) {
  EXPECT_EQ(FromFront(0, 3), 0);
  EXPECT_EQ(FromFront(2, 3), 2);
  EXPECT_EQ(FromFront(-1, 3), 2);
  EXPECT_EQ(FromFront(-3, 3), 0);
}

TEST(IndexTest, OutsideThereIsNone) {
  EXPECT_EQ(FromFront(3, 3), -1);
  EXPECT_EQ(FromFront(-4, 3), -1);
  EXPECT_EQ(FromFront(0, 0), -1);
  EXPECT_EQ(FromFront(INT64_MIN, 3), -1);
  EXPECT_EQ(FromFront(INT64_MAX, 3), -1);
}

}  // namespace
}  // namespace reprise::cpu
