#include "runtime/cpu/lane.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "runtime/cpu/heap_slot_memory.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

TEST(RunBoardTest, AWaitEndsByDeadlineWakeOrCompletion) {
  FakeClock clock;
  RunBoard board(clock);
  HostSlot slot;
  EXPECT_THAT(board.Wait(slot, absl::InfiniteFuture()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  board.Begin(slot);
  EXPECT_THAT(board.Wait(slot, clock.Now()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  board.Wake();
  EXPECT_THAT(board.Wait(slot, absl::InfiniteFuture()),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(board.Wait(slot, clock.Now()),  // one Wake, one call
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  RunTimes took;
  took.graph = absl::Seconds(1);
  board.Finish(slot, absl::OkStatus(), took);
  board.Wake();
  auto times = board.Wait(slot, absl::InfinitePast());
  ASSERT_THAT(times, IsOk());
  EXPECT_EQ(times->graph, absl::Seconds(1));
}

TEST(RunBoardTest, AWaitThatHasBegunIsWoken) {
  FakeClock clock;
  RunBoard board(clock);
  HostSlot slot;
  board.Begin(slot);
  Thread waiter("waiter", [&] {
    EXPECT_THAT(board.Wait(slot, absl::InfiniteFuture()),
                StatusIs(absl::StatusCode::kAborted));
    EXPECT_THAT(board.Wait(slot, clock.Now() + absl::Seconds(1)),
                StatusIs(absl::StatusCode::kDeadlineExceeded));
  });
  clock.AwaitWaiters(1);
  board.Wake();
  // Its second wait has a deadline; the first had none.
  while (clock.NextDeadline() == absl::InfiniteFuture()) {
    clock.AwaitWaiters(1);
  }
  clock.Advance(absl::Seconds(2));
}

TEST(RunBoardTest, AFailedRunGivesItsStatusOnce) {
  FakeClock clock;
  RunBoard board(clock);
  HostSlot slot;
  board.Begin(slot);
  board.Finish(slot, absl::InternalError("broken"), {});
  EXPECT_THAT(board.Await(slot),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("broken")));
  EXPECT_THAT(board.Wait(slot, absl::InfiniteFuture()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// y = x + 1 over bytes, noting the thread; blocks while `hold` is locked.
struct Fixture {
  Fixture() {
    Signature signature;
    signature.batched = true;
    signature.inputs = {
        {.name = "x", .dtype = DType::kUint8, .dims = {}, .symbols = {}}};
    signature.outputs = {
        {.name = "y", .dtype = DType::kUint8, .dims = {}, .symbols = {}}};
    layout = MakeSlotLayout(signature, 4).value();
    Program program;
    program.plan.buffers = {
        {.name = "x", .bytes = 4, .place = plan::Place::kInput},
        {.name = "y", .bytes = 4, .place = plan::Place::kOutput}};
    program.plan.steps = {{.name = "AddOne", .reads = {0}, .writes = {1}}};
    program.kernels.push_back({[this](const KernelArgs& args) {
      if (!running.HasBeenNotified()) running.Notify();
      absl::MutexLock lock(&hold);
      for (int i = 0; i < 4; ++i) {
        args.out<uint8_t>(0)[i] =
            static_cast<uint8_t>(args.in<uint8_t>(0)[i] + 1);
      }
    }});
    lane = Lane::Create(0, int64_t{1} << 22, board, clock).value();
    runner = std::make_unique<Runner>(std::move(program), lane->arena().data());
  }

  std::unique_ptr<HostSlot> MakeSlot() {
    auto slot = std::make_unique<HostSlot>();
    EXPECT_THAT(slot->Grow(layout, AllocateOnHeap), IsOk());
    slot->Use(layout);
    return slot;
  }

  FakeClock clock;
  RunBoard board{clock};
  absl::Mutex hold;
  absl::Notification running;  // a job, the first
  SlotLayout layout;
  std::unique_ptr<Runner> runner;
  std::unique_ptr<Lane> lane;  // last: its thread uses the others
};

TEST(LaneTest, RunsOnItsThreadAndPadsWithRowZero) {
  Fixture f;
  auto slot = f.MakeSlot();
  slot->input(0)[0] = std::byte{10};
  slot->input(0)[1] = std::byte{20};
  slot->input(0)[2] = std::byte{99};
  f.board.Begin(*slot);
  ASSERT_THAT(f.lane->Submit({f.runner.get(), slot.get(), 2, 4}), IsOk());
  ASSERT_THAT(f.board.Await(*slot), IsOk());
  EXPECT_EQ(slot->output(0)[1], std::byte{21});
  EXPECT_EQ(slot->output(0)[2], std::byte{11});
  EXPECT_EQ(slot->output(0)[3], std::byte{11});
}

TEST(LaneTest, TryRunRefusesWhileAJobRuns) {
  Fixture f;
  auto first = f.MakeSlot();
  auto second = f.MakeSlot();
  f.board.Begin(*first);
  f.board.Begin(*second);
  {
    absl::MutexLock lock(&f.hold);
    ASSERT_THAT(f.lane->Submit({f.runner.get(), first.get(), 4, 4}), IsOk());
    EXPECT_FALSE(f.lane->TryRun({f.runner.get(), second.get(), 4, 4}));
    ASSERT_THAT(f.lane->Submit({f.runner.get(), second.get(), 4, 4}), IsOk());
  }
  EXPECT_THAT(f.board.Await(*second), IsOk());
  EXPECT_THAT(f.board.Await(*first), IsOk());
}

TEST(LaneTest, WhatIsSubmittedDuringTryRunRunsAfterIt) {
  Fixture f;
  auto first = f.MakeSlot();
  auto second = f.MakeSlot();
  f.board.Begin(*second);
  std::optional<Thread> caller;
  {
    absl::MutexLock lock(&f.hold);
    caller.emplace("caller", [&] {  // whose slot has not been begun
      EXPECT_TRUE(f.lane->TryRun({f.runner.get(), first.get(), 4, 4}));
    });
    f.running.WaitForNotification();
    ASSERT_THAT(f.lane->Submit({f.runner.get(), second.get(), 4, 4}), IsOk());
  }
  EXPECT_THAT(f.board.Await(*second), IsOk());
  EXPECT_THAT(f.board.Wait(*first, absl::InfiniteFuture()), IsOk());
}

TEST(LaneTest, FinishesWhatWasSubmittedBeforeItEnds) {
  Fixture f;
  std::vector<std::unique_ptr<HostSlot>> slots;
  for (int i = 0; i < 20; ++i) {
    slots.push_back(f.MakeSlot());
    slots.back()->input(0)[0] = std::byte{1};
    f.board.Begin(*slots.back());
    ASSERT_THAT(f.lane->Submit({f.runner.get(), slots.back().get(), 1, 4}),
                IsOk());
  }
  f.lane.reset();
  for (const auto& slot : slots) {
    EXPECT_EQ(slot->output(0)[3], std::byte{2});
  }
}

}  // namespace
}  // namespace reprise::cpu
