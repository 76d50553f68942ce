// The model manager in mode poll: what it does when the repository changes.
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/worker/model_manager.h"
#include "tests/runtime/worker/manager_fixture.h"
#include "tests/testing/fake_clock.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::Lines;
using ::reprise::testing::ManagerFixture;
using ::reprise::testing::ReluModel;
using ::reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
constexpr auto kInternal = absl::StatusCode::kInternal;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

// A clock, made before the fixture that takes it.
struct OwnClock {
  FakeClock fake_clock;
};

class PollTest : private OwnClock, public ManagerFixture {
 protected:
  PollTest() : ManagerFixture(fake_clock) {
    options_.mode = ControlMode::kPoll;
    options_.poll_interval = absl::Seconds(15);
  }
  ~PollTest() override {
    if (manager_ != nullptr) manager_->Stop(absl::InfiniteFuture());
    manager_.reset();
  }

  // Lets one interval pass. Returns when it was over.
  absl::Time BeginPoll() {
    const absl::Time due = fake_clock.Now() + options_.poll_interval;
    while (fake_clock.NextDeadline() > due) fake_clock.AwaitWaiters(1);
    fake_clock.Advance(options_.poll_interval);
    return due;
  }

  // Lets one interval pass, and waits until the poll is over.
  void Poll() {
    const absl::Time due = BeginPoll();
    while (fake_clock.NextDeadline() != due + options_.poll_interval) {
      fake_clock.AwaitWaiters(1);
    }
  }
};

TEST_F(PollTest, FindsWhatIsNewChangedAndGone) {
  WriteModel("a", "max_batch_size: 8");
  ModelManager& manager = Start();
  EXPECT_THAT(start_status_, IsOk());
  EXPECT_TRUE(manager.Ready());
  const uint64_t first = (*registry_.Acquire("a", ""))->uid();
  Poll();
  EXPECT_EQ((*registry_.Acquire("a", ""))->uid(), first);  // nothing changed

  repo_.Write("a/config.pbtxt", "max_batch_size: 4");
  WriteModel("b");
  Poll();
  EXPECT_EQ(MaxBatch("a"), 4);
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("a/1 READY", "b/1 READY"));

  repo_.Write("a/2/model.onnx", ReluModel());
  repo_.Remove("b");
  Poll();
  EXPECT_EQ((*registry_.Acquire("a", ""))->version(), 2);
  EXPECT_THAT(registry_.Acquire("b", ""), StatusIs(kNotFound));
  EXPECT_TRUE(manager.Ready());
}

TEST_F(PollTest, WhatIsNewIsKnownBeforeItsTurnToLoadComes) {
  Start();
  WriteModel("a");
  WriteModel("b");
  fake_.HoldPrepare(true);
  BeginPoll();
  fake_.AwaitPrepares(1);
  EXPECT_THAT(Lines(registry_.Index()),
              ElementsAre("a/1 LOADING", "b/ LOADING"));
  fake_.HoldPrepare(false);
}

TEST_F(PollTest, ABadChangeLeavesTheOldVersionAndIsTriedOnce) {
  WriteModel("a", "max_batch_size: 8");
  WriteModel("b");
  ModelManager& manager = Start();
  repo_.Write("a/config.pbtxt", "max_batch_size: {");
  repo_.Write("b/config.pbtxt", "max_batch_size: 2");
  Poll();
  EXPECT_EQ(MaxBatch("a"), 8);
  EXPECT_EQ(MaxBatch("b"), 2);  // one bad model stops no other
  const int prepares = fake_.prepares();
  Poll();
  EXPECT_EQ(fake_.prepares(), prepares);
  repo_.Write("a/config.pbtxt", "max_batch_size: 4");
  Poll();
  EXPECT_EQ(MaxBatch("a"), 4);
  EXPECT_TRUE(manager.Ready());
}

TEST_F(PollTest, AModelThatFailedAtStartIsReadyOnceItIsMended) {
  repo_.Write("a/1/model.onnx", "no model");
  ModelManager& manager = Start();
  EXPECT_FALSE(manager.Ready());
  WriteModel("a");
  Poll();
  EXPECT_TRUE(manager.Ready());
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("a/1 READY"));
}

TEST_F(PollTest, AFolderWhoseNameIsNotUtf8IsIgnoredAndSaidOnce) {
  WriteModel("a");
  repo_.MakeFolder("b\xff/1");
  ::testing::internal::CaptureStderr();
  ModelManager& manager = Start();
  Poll();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(manager.Ready());
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("a/1 READY"));
  const size_t said = log.find("name is not UTF-8");
  EXPECT_NE(said, std::string::npos) << log;
  EXPECT_NE(log.find("b\\\\xff"), std::string::npos) << log;
  EXPECT_EQ(log.find("name is not UTF-8", said + 1), std::string::npos) << log;
}

// A link to itself is there, and nobody can read it: as a network's folder is
// when the network fails.
TEST_F(PollTest, WhatCannotBeReadGoesOnServing) {
  WriteModel("a", "max_batch_size: 8");
  ModelManager& manager = Start();
  const uint64_t first = (*registry_.Acquire("a", ""))->uid();
  repo_.Remove("a");
  repo_.Link("a", "a");
  ::testing::internal::CaptureStderr();
  Poll();
  Poll();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ((*registry_.Acquire("a", ""))->uid(), first);
  EXPECT_TRUE(manager.Ready());
  const size_t said = log.find("model=a");
  EXPECT_NE(said, std::string::npos);
  EXPECT_EQ(log.find("model=a", said + 1), std::string::npos) << log;

  repo_.Remove("a");
  WriteModel("a", "max_batch_size: 4");
  Poll();
  EXPECT_EQ(MaxBatch("a"), 4);
  repo_.Remove("a");
  Poll();
  EXPECT_THAT(registry_.Acquire("a", ""), StatusIs(kNotFound));
}

TEST_F(PollTest, WhatCannotBeReadAtStartIsRequired) {
  repo_.Link("a", "a");
  WriteModel("b");
  ModelManager& manager = Start();
  EXPECT_THAT(start_status_, StatusIs(kInternal, HasSubstr("model 'a'")));
  EXPECT_FALSE(manager.Ready());
  EXPECT_THAT(Lines(manager.Index()),
              ElementsAre(StartsWith("a/ UNAVAILABLE: "), "b/1 READY"));
  Poll();
  EXPECT_FALSE(manager.Ready());
  repo_.Remove("a");
  WriteModel("a");
  Poll();
  EXPECT_TRUE(manager.Ready());
  EXPECT_THAT(Lines(manager.Index()), ElementsAre("a/1 READY", "b/1 READY"));
}

TEST_F(PollTest, WhatCouldNeverBeReadMayGoAgain) {
  repo_.Link("a", "a");
  ModelManager& manager = Start();
  repo_.Link("b", "b");
  Poll();
  EXPECT_THAT(Lines(manager.Index()),
              ElementsAre(StartsWith("a/ UNAVAILABLE: "),
                          StartsWith("b/ UNAVAILABLE: ")));
  repo_.Remove("a");
  repo_.Remove("b");
  Poll();
  EXPECT_THAT(Lines(manager.Index()), IsEmpty());
  EXPECT_TRUE(manager.Ready());
}

TEST_F(PollTest, LoadsAreNotTakenFromClients) {
  WriteModel("a");
  ModelManager& manager = Start();
  EXPECT_THAT(manager.Load("a", {}), StatusIs(kUnavailable));
  EXPECT_THAT(manager.Unload("a"), StatusIs(kUnavailable));
}

}  // namespace
}  // namespace reprise
