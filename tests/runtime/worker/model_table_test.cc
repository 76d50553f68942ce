#include "runtime/worker/model_table.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "tests/runtime/worker/recording_worker.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::RecordingWorker;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ModelTableTest : public ::testing::Test {
 protected:
  LoadOutcome Loaded(int64_t version) {
    ModelConfig config;
    auto model = std::make_unique<const ModelVersion>(
        ++uid_, "m", version, std::move(config), Signature{});
    return {version, table_.reaper().Adopt(std::move(model), {&worker_}),
            absl::Milliseconds(1)};
  }
  static LoadOutcome NotLoaded(int64_t version) {
    return {version, absl::InternalError("broken"), absl::Milliseconds(1)};
  }
  absl::Status Settle(LoadOutcome first) {
    std::vector<LoadOutcome> outcomes;
    outcomes.push_back(std::move(first));
    return table_.Settle("m", std::move(outcomes));
  }
  absl::Status Settle(LoadOutcome first, LoadOutcome second) {
    std::vector<LoadOutcome> outcomes;
    outcomes.push_back(std::move(first));
    outcomes.push_back(std::move(second));
    return table_.Settle("m", std::move(outcomes));
  }
  std::vector<std::string> Index() const {
    std::vector<std::string> lines;
    for (const IndexEntry& entry : registry_.Index()) {
      lines.push_back(entry.version + " " +
                      std::string(StateName(entry.state)) +
                      (entry.reason.empty() ? "" : ": " + entry.reason));
    }
    return lines;
  }

  // "version=value" of reprise_model_ready.
  std::vector<std::string> Ready() const {
    std::vector<std::string> lines;
    for (const prometheus::MetricFamily& family : metrics_.Collect()) {
      if (family.name != "reprise_model_ready") continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        lines.push_back(metric.label[1].value +
                        (metric.gauge.value == 1 ? "=1" : "=0"));
      }
    }
    return lines;
  }

  // Of reprise_model_load_seconds; none: -1.
  double LoadSeconds() const {
    for (const prometheus::MetricFamily& family : metrics_.Collect()) {
      if (family.name != "reprise_model_load_seconds") continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        return metric.gauge.value;
      }
    }
    return -1;
  }

  prometheus::Registry metrics_;
  ModelRegistry registry_;
  RecordingWorker worker_;
  ModelTable table_{registry_, metrics_};
  uint64_t uid_ = 0;
};

TEST_F(ModelTableTest, AtFirstWhatLoadedIsServedAndTheRestSaysWhy) {
  table_.Loading("m", 1);
  table_.Loading("m", 2);
  EXPECT_THAT(Index(), ElementsAre("1 LOADING", "2 LOADING"));
  EXPECT_THAT(
      Settle(Loaded(1), NotLoaded(2)),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("version 2: broken")));
  EXPECT_THAT(Index(), ElementsAre("1 READY", "2 UNAVAILABLE: broken"));
}

TEST_F(ModelTableTest, AReloadIsAllOrNothing) {
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  table_.Loading("m", 1);  // stays READY
  table_.Loading("m", 2);
  EXPECT_THAT(Index(), ElementsAre("1 READY", "2 LOADING"));
  EXPECT_THAT(Settle(Loaded(1), NotLoaded(2)),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ((*registry_.Acquire("m", ""))->uid(), 1U);
  EXPECT_THAT(Index(), ElementsAre("1 READY", "2 UNAVAILABLE: broken"));
  table_.reaper().AwaitGone(2);  // the new version 1 is not kept
  EXPECT_THAT(worker_.removed(), ElementsAre(2));
  EXPECT_THAT(Settle(Loaded(2), NotLoaded(1)),
              StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(Index(),
              ElementsAre("1 READY", AllOf(HasSubstr("2 UNAVAILABLE"),
                                           HasSubstr("version 1: broken"))));
}

TEST_F(ModelTableTest, ALoadThatFailsHasNoTime) {
  EXPECT_THAT(Settle(NotLoaded(1)), StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(LoadSeconds(), -1);
  LoadOutcome loaded = Loaded(1);
  loaded.time = absl::Seconds(2);
  ASSERT_THAT(Settle(std::move(loaded)), IsOk());
  EXPECT_THAT(Settle(NotLoaded(1)), StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(LoadSeconds(), 2);
}

TEST_F(ModelTableTest, TheLogHasWhatWasPrepared) {
  LoadOutcome loaded = Loaded(1);
  loaded.prepared = "ladder=2,4 dropped=1";
  ::testing::internal::CaptureStderr();
  ASSERT_THAT(Settle(std::move(loaded)), IsOk());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("model ready model=m version=1"),
                    HasSubstr(" ladder=2,4 dropped=1 ")));
}

TEST_F(ModelTableTest, ANameWithASpaceStaysOneFieldOfTheLog) {
  ::testing::internal::CaptureStderr();
  table_.Failed("a b", absl::InternalError("broken"));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("model failed to load model=\"a b\" reason="));
}

TEST_F(ModelTableTest, AMisnamedFolderIsLoggedOnce) {
  ::testing::internal::CaptureStderr();
  table_.Misnamed({"/models/a"});
  table_.Misnamed({"/models/a", "/models/b"});
  const std::string log = ::testing::internal::GetCapturedStderr();
  const size_t said = log.find("path=\"/models/a\"");
  EXPECT_NE(said, std::string::npos) << log;
  EXPECT_EQ(log.find("/models/a", said + 7), std::string::npos) << log;
  EXPECT_THAT(log, HasSubstr("path=\"/models/b\""));
}

TEST_F(ModelTableTest, VersionsThatAreNotAskedForAnyMoreAreUnloaded) {
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  ModelHandle pinned = *registry_.Acquire("m", "1");
  table_.Loading("m", 2);
  ASSERT_THAT(Settle(Loaded(2)), IsOk());
  EXPECT_THAT(Index(), ElementsAre("1 UNLOADING", "2 READY"));
  pinned.reset();
  table_.reaper().AwaitGone(1);
  EXPECT_THAT(Index(), ElementsAre("1 UNAVAILABLE: unloaded", "2 READY"));
}

TEST_F(ModelTableTest, AReplacedVersionDrainsInSilence) {
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  ModelHandle pinned = *registry_.Acquire("m", "1");
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  EXPECT_THAT(worker_.removed(), IsEmpty());
  pinned.reset();
  table_.reaper().AwaitGone(1);
  EXPECT_THAT(worker_.removed(), ElementsAre(1));
  EXPECT_THAT(Index(), ElementsAre("1 READY"));
}

TEST_F(ModelTableTest, AVersionLoadedAgainWhileItDrainsStaysReady) {
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  ModelHandle pinned = *registry_.Acquire("m", "1");
  table_.Withdraw("m");
  EXPECT_THAT(Index(), ElementsAre("1 UNLOADING"));
  table_.Loading("m", 1);
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  pinned.reset();
  table_.reaper().AwaitGone(1);
  EXPECT_THAT(Index(), ElementsAre("1 READY"));
}

TEST_F(ModelTableTest, WhatCannotBeLookedAtHasAReason) {
  table_.Failed("m", absl::InvalidArgumentError("config.pbtxt: line 2"));
  EXPECT_THAT(Index(), ElementsAre(" UNAVAILABLE: config.pbtxt: line 2"));
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  table_.Failed("m", absl::InvalidArgumentError("config.pbtxt: line 3"));
  EXPECT_THAT(Index(), ElementsAre("1 READY"));
}

TEST_F(ModelTableTest, WhatCannotBeLookedAtIsNotReadyInTheMetrics) {
  table_.Failed("m", absl::InvalidArgumentError("line 2"));
  EXPECT_THAT(Ready(), ElementsAre("=0"));
  table_.Loading("m", 1);
  EXPECT_THAT(Ready(), ElementsAre("1=0"));
  Settle(NotLoaded(1)).IgnoreError();
  table_.Failed("m", absl::InvalidArgumentError("line 3"));
  EXPECT_THAT(Ready(), ElementsAre("=0"));
  table_.Loading("m", 1);
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  table_.Failed("m", absl::InvalidArgumentError("line 4"));
  EXPECT_THAT(Ready(), ElementsAre("1=1"));
}

TEST_F(ModelTableTest, WithdrawForgetsWhatNeverLoaded) {
  table_.Failed("m", absl::InvalidArgumentError("line 2"));
  table_.WithdrawAndWait("m");
  EXPECT_THAT(Index(), IsEmpty());
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  table_.WithdrawAndWait("m");
  table_.WithdrawAndWait("m");
  EXPECT_THAT(Index(), ElementsAre("1 UNAVAILABLE: unloaded"));
  EXPECT_THAT(worker_.removed(), ElementsAre(1));
}

TEST_F(ModelTableTest, ARequiredModelCountsUntilItHasLoadedOnce) {
  EXPECT_TRUE(table_.AllRequiredLoaded());
  table_.Require("m");
  EXPECT_FALSE(table_.AllRequiredLoaded());
  Settle(NotLoaded(1)).IgnoreError();
  EXPECT_FALSE(table_.AllRequiredLoaded());
  ASSERT_THAT(Settle(Loaded(1)), IsOk());
  EXPECT_TRUE(table_.AllRequiredLoaded());
  table_.WithdrawAndWait("m");
  EXPECT_TRUE(table_.AllRequiredLoaded());
  table_.Require("other");
  EXPECT_FALSE(table_.AllRequiredLoaded());
  table_.WithdrawAndWait("other");  // given up
  EXPECT_TRUE(table_.AllRequiredLoaded());
}

TEST_F(ModelTableTest, ChangesOfOneModelTakeTurns) {
  ASSERT_THAT(table_.BeginChange("m"), IsOk());
  ASSERT_THAT(table_.BeginChange("other"), IsOk());
  FakeClock clock;
  EXPECT_FALSE(table_.AwaitIdle(clock, clock.Now()));
  absl::Status second;
  {
    Thread waiter("waiter", [&] { second = table_.BeginChange("m"); });
    table_.EndChange("m");
  }
  EXPECT_THAT(second, IsOk());
  absl::Status third;
  {
    Thread waiter("waiter", [&] { third = table_.BeginChange("m"); });
    table_.Close();
  }
  EXPECT_THAT(third, StatusIs(absl::StatusCode::kUnavailable));
  table_.EndChange("m");
  table_.EndChange("other");
  EXPECT_TRUE(table_.AwaitIdle(clock, clock.Now()));
}

TEST_F(ModelTableTest, RemembersFingerprintsOfWhatIsWatched) {
  EXPECT_EQ(table_.fingerprint("m"), "");
  table_.SetFingerprint("m", "f");
  EXPECT_EQ(table_.fingerprint("m"), "f");
  EXPECT_THAT(table_.Watched(), ElementsAre("m"));
  table_.Withdraw("m");
  EXPECT_THAT(table_.Watched(), IsEmpty());
}

TEST_F(ModelTableTest, StopUnloadsWhatNobodyHolds) {
  LoadOutcome first = Loaded(1);  // uid 1
  ASSERT_THAT(Settle(std::move(first), Loaded(2)), IsOk());
  ModelHandle pinned = *registry_.Acquire("m", "2");
  table_.Stop();
  EXPECT_THAT(worker_.removed(), ElementsAre(1));
  EXPECT_THAT(registry_.Acquire("m", ""),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace reprise
