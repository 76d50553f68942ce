#include "runtime/worker/served.h"

#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestSignature;

TEST(ServedTest, FindsVariantsByTheirDims) {
  prometheus::Registry registry;
  WorkerMetrics metrics(registry, "cpu");
  const TestModel model(1, TestConfig(), TestSignature(8, kFreeDim));
  Served served(model.version(), metrics);
  EXPECT_EQ(served.text, "model 'm' version 1");
  EXPECT_EQ(served.Find({3}), nullptr);
  Variant& variant = served.AddVariant({3});
  EXPECT_EQ(served.Find({3}), &variant);
  EXPECT_EQ(served.Find({4}), nullptr);
  EXPECT_FALSE(variant.ready());
  EXPECT_EQ(served.ReadyVariants(), "none");
}

TEST(ServedTest, ARowCostsItsShareOfABatchOfCapacity) {
  prometheus::Registry registry;
  WorkerMetrics metrics(registry, "cpu");
  const TestModel model(1, TestConfig());
  Served served(model.version(), metrics);
  Variant& variant = served.AddVariant({});
  const absl::Duration ms = absl::Milliseconds(1);
  variant.SetLadder({{.rows = 1, .p50 = ms, .p999 = ms},
                     {.rows = 4, .p50 = 2 * ms, .p999 = 2 * ms}});
  EXPECT_NEAR(absl::ToDoubleMicroseconds(variant.row_cost), 505, 0.01);
}

TEST(ServedTest, VariantsAreNamedByTheirSymbols) {
  EXPECT_EQ(VariantText(TestSignature(8, kFreeDim), {7}), "n=7");
  EXPECT_EQ(VariantText(TestSignature(), {}), "");
}

}  // namespace
}  // namespace reprise
