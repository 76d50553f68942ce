#include <cstdint>
#include <vector>

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

TEST(PoolOneDnnTest, GivesTheLoopsAnswer) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    for (const int64_t ceil : {0, 1}) {
      OpTester tester(op, 11);
      tester.In(Noise({2, 5, 8, 7}, 1))
          .Set("kernel_shape", std::vector<int64_t>{3, 2})
          .Set("strides", std::vector<int64_t>{2, 2})
          .Set("pads", std::vector<int64_t>{1, 0, 0, 1})
          .Set("ceil_mode", ceil);
      tester.ExpectOneDnn(op);
    }
  }
}

TEST(PoolOneDnnTest, PoolsWholePlanes) {
  OpTester("GlobalAveragePool", 1)
      .In(Noise({2, 20, 7, 5}, 1))
      .ExpectOneDnn("GlobalAveragePool");
  OpTester("GlobalMaxPool", 1)
      .In(Noise({2, 20, 7, 5}, 1))
      .ExpectOneDnn("GlobalMaxPool");
}

TEST(PoolOneDnnTest, LeavesIndicesToTheLoop) {
  OpTester tester("MaxPool", 12);
  tester.In(Noise({1, 2, 6, 6}, 1))
      .Set("kernel_shape", std::vector<int64_t>{2, 2})
      .Outputs(2);
  tester.ExpectPlain();
}

}  // namespace
}  // namespace reprise::cpu
