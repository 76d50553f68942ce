#include "runtime/worker/served.h"

#include <utility>

#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::FakeDevice;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestSignature;
using ::reprise::testing::TestTask;

TEST(ServedTest, FindsVariantsByTheirDims) {
  prometheus::Registry registry;
  WorkerMetrics metrics(registry, std::nullopt);
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
  WorkerMetrics metrics(registry, std::nullopt);
  const TestModel model(1, TestConfig());
  Served served(model.version(), metrics);
  Variant& variant = served.AddVariant({});
  const absl::Duration ms = absl::Milliseconds(1);
  variant.SetLadder({{.rows = 1, .p50 = ms, .p999 = ms},
                     {.rows = 4, .p50 = 2 * ms, .p999 = 2 * ms}});
  EXPECT_NEAR(absl::ToDoubleMicroseconds(variant.row_cost), 505, 0.01);
}

TEST(ServedTest, AVariantHasRoomUpToItsLargestRung) {
  prometheus::Registry registry;
  WorkerMetrics metrics(registry, std::nullopt);
  FakeClock clock;
  FakeDevice fake(clock);
  TestModel model(1, TestConfig({4}));
  Served served(model.version(), metrics);
  Variant& variant = served.AddVariant({});
  EXPECT_FALSE(variant.HasRoom(1));
  ServedModel made = model.Make(fake);
  variant.SetLadder(made.variants[0].lanes[0]->ladder());
  variant.lanes = std::move(made.variants[0].lanes);
  EXPECT_TRUE(variant.HasRoom(4));
  EXPECT_FALSE(variant.HasRoom(5));
  TestTask fits(1, 4);
  TestTask large(2, 5);
  ASSERT_TRUE(variant.queue.Offer(fits, clock.Now()).ok());
  EXPECT_FALSE(variant.WantsRungs());
  ASSERT_TRUE(variant.queue.Offer(large, clock.Now()).ok());
  EXPECT_TRUE(variant.WantsRungs());
}

TEST(ServedTest, VariantsAreNamedByTheirSymbols) {
  EXPECT_EQ(VariantText(TestSignature(8, kFreeDim), {7}), "n=7");
  EXPECT_EQ(VariantText(TestSignature(), {}), "");
}

}  // namespace
}  // namespace reprise
