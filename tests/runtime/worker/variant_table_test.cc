#include "runtime/worker/variant_table.h"

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::FakeDevice;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestSignature;
using ::reprise::testing::TestTask;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One model whose rows have `n` elements, n free, with two variants at most.
class VariantTableTest : public ::testing::Test {
 protected:
  static ModelConfig Config() {
    ModelConfig config = TestConfig();
    config.batch.max_variants = 2;
    return config;
  }

  VariantTableTest() {
    served_.loaded = fake_.Load(model_.version().signature());
  }

  Variant& Find(int64_t n) {
    const auto found = table_.FindOrAdd(served_, {n});
    EXPECT_THAT(found, IsOk());
    return **found;
  }

  // A request that waits for the variant of `n`, later than those before it.
  Variant& Wait(int64_t n, int rows = 1) {
    clock_.Advance(absl::Milliseconds(1));
    Variant& variant = Find(n);
    TestTask& task = tasks_.emplace_back(n, rows, n);
    EXPECT_THAT(variant.queue.Offer(task, clock_.Now(), absl::ZeroDuration()),
                IsOk());
    return variant;
  }

  Prepared Make(const Variant& variant, const BuildPlan& plan) {
    Prepared made;
    for (int lane = 0; lane < plan.lanes; ++lane) {
      auto executable = served_.loaded->Prepare(variant.key, plan.sizes, lane);
      EXPECT_THAT(executable, IsOk());
      made.lanes.push_back(*std::move(executable));
    }
    return made;
  }

  void Build(Variant& variant) {
    const BuildPlan plan = VariantTable::Plan(variant);
    VariantTable::Publish(variant, plan, Make(variant, plan), clock_.Now(),
                          gone_);
  }

  // A variant of `n` with its whole ladder, for which nobody waits.
  Variant& Idle(int64_t n) {
    Variant& variant = Find(n);
    variant.SetLadder({{.rows = 8,
                        .p50 = absl::Milliseconds(1),
                        .p999 = absl::Milliseconds(1)}});
    variant.lanes = Make(variant, {.sizes = {8}}).lanes;
    variant.last_run = clock_.Now();
    clock_.Advance(absl::Milliseconds(1));
    return variant;
  }

  Variant* Next(bool draining = false) {
    return table_.NextToBuild(draining, gone_);
  }

  FakeClock clock_;
  FakeDevice fake_{clock_};
  const std::unique_ptr<Device> device_ = fake_.Make();
  prometheus::Registry registry_;
  WorkerMetrics metrics_{registry_, std::nullopt};
  std::deque<TestTask> tasks_;
  const TestModel model_{1, Config(), TestSignature(8, kFreeDim)};
  Served served_{model_.version(), metrics_};
  DestroyList gone_;
  VariantTable table_;
};

TEST_F(VariantTableTest, AVariantIsAddedOnce) {
  Variant& variant = Find(3);
  EXPECT_EQ(&Find(3), &variant);
  EXPECT_THAT(table_.all(), ElementsAre(&variant));
  EXPECT_THAT(table_.FindOrAdd(served_, {1, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(VariantTableTest, AModelBringsItsVariantsAndTakesThemAlong) {
  Served other(model_.version(), metrics_);
  Variant& its = other.AddVariant({7});
  Variant& variant = Find(3);
  table_.AddAll(other);
  EXPECT_THAT(table_.all(), ElementsAre(&variant, &its));
  table_.RemoveAll(other);
  EXPECT_THAT(table_.all(), ElementsAre(&variant));
}

TEST_F(VariantTableTest, TheLongestAwaitedIsMadeNextAndTheForgottenNever) {
  Find(3);
  Variant& first = Wait(5);
  Variant& second = Wait(4);
  EXPECT_EQ(Next(), &first);
  EXPECT_TRUE(served_.building);
  EXPECT_THAT(table_.all(), ElementsAre(&first, &second));
  EXPECT_EQ(Next(), &second);
  EXPECT_EQ(Next(), nullptr);
}

TEST_F(VariantTableTest, TheRestOfALadderComesLastAndNotWhileDraining) {
  Variant& variant = Wait(5, 3);
  ASSERT_EQ(Next(), &variant);
  EXPECT_THAT(VariantTable::Plan(variant).sizes, ElementsAre(4));
  Build(variant);
  EXPECT_FALSE(variant.building);
  EXPECT_TRUE(variant.partial);
  EXPECT_EQ(Next(/*draining=*/true), nullptr);
  ASSERT_EQ(Next(), &variant);
  EXPECT_THAT(VariantTable::Plan(variant).sizes, ElementsAre(1, 2, 4, 8));
  Build(variant);
  EXPECT_FALSE(variant.next.lanes.empty());
  EXPECT_EQ(Next(), nullptr);
}

TEST_F(VariantTableTest, TheLeastRecentlyUsedLeavesAndIsDestroyedLater) {
  Idle(1);
  Variant& kept = Idle(2);
  Variant& wanted = Wait(3);
  EXPECT_EQ(Next(), &wanted);
  EXPECT_THAT(table_.all(), ElementsAre(&kept, &wanted));
  EXPECT_FALSE(gone_.empty());
  EXPECT_EQ(fake_.live_executables(), 2);
  EXPECT_THAT(table_.TakeEvicted(), ElementsAre("model=m dims=\"n=1\""));
  EXPECT_THAT(table_.TakeEvicted(), IsEmpty());
}

TEST_F(VariantTableTest, RoomIsWantedWhileAllAreInUse) {
  Idle(1).runs = 1;
  Variant& other = Idle(2);
  other.runs = 1;
  Variant& wanted = Wait(3);
  EXPECT_EQ(Next(), nullptr);
  EXPECT_TRUE(table_.room_wanted());
  other.runs = 0;
  EXPECT_EQ(Next(), &wanted);
  EXPECT_FALSE(table_.room_wanted());
}

TEST_F(VariantTableTest, WhatIsMadeForALeavingModelIsDestroyed) {
  Variant& variant = Wait(5);
  ASSERT_EQ(Next(), &variant);
  served_.removing = true;
  Build(variant);
  EXPECT_FALSE(variant.ready());
  EXPECT_FALSE(served_.building);
  EXPECT_FALSE(gone_.empty());
}

TEST_F(VariantTableTest, ARefusedVariantGoesWithItsRequestsAndIsRemembered) {
  Wait(5);
  std::vector<Waiting> refused;
  const absl::Status status = table_.Refuse(
      *Next(), absl::InvalidArgumentError("no such dims"), refused);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("n=5 cannot be served: no such")));
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].task, &tasks_[0]);
  EXPECT_THAT(table_.all(), IsEmpty());
  EXPECT_EQ(table_.FindOrAdd(served_, {5}).status(), status);
}

TEST_F(VariantTableTest, MissingMemoryIsNotRemembered) {
  Wait(5);
  std::vector<Waiting> refused;
  EXPECT_THAT(
      table_.Refuse(*Next(), absl::ResourceExhaustedError("arena"), refused),
      StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(table_.FindOrAdd(served_, {5}), IsOk());
}

TEST_F(VariantTableTest, WithoutTheRestOfItsLadderAVariantGoesOn) {
  Variant& variant = Wait(5);
  ASSERT_EQ(Next(), &variant);
  Build(variant);
  Wait(5, 8);
  ASSERT_EQ(Next(), &variant);
  std::vector<Waiting> refused;
  EXPECT_THAT(
      table_.Refuse(variant, absl::ResourceExhaustedError("arena"), refused),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("more than 1 rows: arena")));
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].task, &tasks_[1]);
  EXPECT_TRUE(variant.ready());
  // Memory may be there by now.
  bool build = false;
  EXPECT_THAT(VariantTable::WantRungs(variant, 8, build), IsOk());
  EXPECT_TRUE(build);
}

}  // namespace
}  // namespace reprise
