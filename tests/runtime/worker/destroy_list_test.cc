#include "runtime/worker/destroy_list.h"

#include <memory>
#include <optional>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::FakeDevice;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DestroyListTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  FakeDevice fake_{clock_};
  const std::unique_ptr<Device> device_ = fake_.Make();  // of this thread
  prometheus::Registry registry_;
  WorkerMetrics metrics_{registry_, std::nullopt};
  TestModel model_{1, TestConfig()};
  DestroyList list_;
};

TEST_F(DestroyListTest, WhatIsAddedLivesUntilItIsDestroyed) {
  ServedModel made = model_.Make(fake_);
  list_.Add({.lanes = std::move(made.variants[0].lanes), .metrics = nullptr});
  EXPECT_FALSE(list_.empty());
  DestroyList::Items items = list_.Take();
  EXPECT_EQ(fake_.live_executables(), 1);
  EXPECT_THAT(DestroyList::Destroy(std::move(items)), IsEmpty());
  EXPECT_EQ(fake_.live_executables(), 0);
}

TEST_F(DestroyListTest, IsIdleOnlyWhenWhatWasTakenIsDestroyed) {
  EXPECT_TRUE(list_.idle());
  list_.Add(Prepared());
  EXPECT_FALSE(list_.idle());
  DestroyList::Items items = list_.Take();
  EXPECT_TRUE(list_.empty());
  EXPECT_FALSE(list_.idle());
  list_.Finish(DestroyList::Destroy(std::move(items)));
  EXPECT_TRUE(list_.idle());
}

TEST_F(DestroyListTest, AModelThatHasGoneIsToldToItsRemover) {
  bool removed = false;
  auto awaited = std::make_unique<Served>(model_.version(), metrics_);
  awaited->removed = &removed;
  list_.Add(std::move(awaited));
  list_.Add(std::make_unique<Served>(model_.version(), metrics_));  // by nobody
  const std::vector<bool*> flags = DestroyList::Destroy(list_.Take());
  EXPECT_THAT(flags, ElementsAre(&removed));
  EXPECT_FALSE(removed);
  list_.Finish(flags);
  EXPECT_TRUE(removed);
}

}  // namespace
}  // namespace reprise
