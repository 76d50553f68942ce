#include "runtime/cuda/graph_clock.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cuda/lane.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using testing::FakeClock;
using testing::FakeCuda;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

class GraphClockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuda_.driver().Init(0), CUDA_SUCCESS);
    auto context = PrimaryContext::Retain(cuda_.driver(), 0);
    ASSERT_THAT(context, IsOk());
    context_ = *std::move(context);
    auto current = CurrentContext::Enter(*context_);
    ASSERT_THAT(current, IsOk());
    current_ = std::make_unique<CurrentContext>(*std::move(current));
    auto graphs = GraphClock::Create(*current_);
    ASSERT_THAT(graphs, IsOk());
    graphs_ = *std::move(graphs);
    for (UniqueStream& stream : streams_) {
      auto made = MakeStream(*current_);
      ASSERT_THAT(made, IsOk());
      stream = *std::move(made);
    }
    CUevent event = nullptr;
    ASSERT_EQ(cuda_.driver().EventCreate(&event, CU_EVENT_DEFAULT),
              CUDA_SUCCESS);
    event_ = UniqueEvent(event, cuda_.driver().EventDestroy);
  }
  void TearDown() override { EXPECT_THAT(cuda_.misuses(), IsEmpty()); }

  void Pass(absl::Duration time) {
    clock_.Advance(time);
    cuda_.Advance(time);
  }
  GraphClock::Reference Acquire(int stream = 0) {
    const auto reference =
        graphs_->Acquire(streams_[stream].get(), clock_.Now());
    EXPECT_THAT(reference, IsOk());
    return reference.value_or(-1);
  }
  // The time of an event that is recorded now.
  absl::Duration TimeNow(GraphClock::Reference reference) {
    EXPECT_EQ(cuda_.driver().EventRecord(event_.get(), streams_[0].get()),
              CUDA_SUCCESS);
    const auto time = graphs_->TimeOf(event_.get(), reference);
    EXPECT_THAT(time, IsOk());
    return time.value_or(absl::InfiniteDuration());
  }
  static double Ms(absl::Duration time) {
    return absl::ToDoubleMilliseconds(time);
  }

  FakeClock clock_;
  FakeCuda cuda_;
  std::unique_ptr<PrimaryContext> context_;
  std::unique_ptr<CurrentContext> current_;
  std::unique_ptr<GraphClock> graphs_;
  UniqueStream streams_[2];
  UniqueEvent event_;
};

TEST_F(GraphClockTest, IsNeededFromTheSecondLaneOn) {
  EXPECT_FALSE(graphs_->needed());
  graphs_->AddLane();
  EXPECT_FALSE(graphs_->needed());
  graphs_->AddLane();
  EXPECT_TRUE(graphs_->needed());
}

TEST_F(GraphClockTest, TimesGoOnWhenTheReferenceMoves) {
  GraphClock::Reference before = Acquire();
  const absl::Duration begin = TimeNow(before);
  int moves = 0;
  for (int second = 1; second <= 20; ++second) {
    Pass(absl::Seconds(1));
    const GraphClock::Reference reference = Acquire();
    EXPECT_NEAR(Ms(TimeNow(reference) - begin), second * 1000.0, 0.01);
    moves += reference != before;
    graphs_->Release(std::exchange(before, reference));
  }
  EXPECT_GE(moves, 3);
}

TEST_F(GraphClockTest, AnEventIsMeasuredFromWhereItsRunBegan) {
  const GraphClock::Reference old = Acquire();
  const absl::Duration begin = TimeNow(old);
  Pass(absl::Seconds(5));
  graphs_->Release(Acquire());
  Pass(absl::Seconds(1));
  const GraphClock::Reference moved = Acquire();
  EXPECT_NE(moved, old);
  EXPECT_NEAR(Ms(TimeNow(old) - begin), 6000, 0.01);
  EXPECT_NEAR(Ms(TimeNow(moved) - begin), 6000, 0.01);
}

TEST_F(GraphClockTest, AReferenceInUseIsNotRecordedAgain) {
  const GraphClock::Reference old = Acquire();
  const absl::Duration begin = TimeNow(old);
  for (int second = 1; second <= 30; ++second) {
    Pass(absl::Seconds(1));
    graphs_->Release(Acquire());
  }
  EXPECT_NEAR(Ms(TimeNow(old) - begin), 30'000, 0.01);
}

// The other lane's run may begin before the stream comes to the reference.
TEST_F(GraphClockTest, AReferenceThatIsNotDoneIsNotUsed) {
  graphs_->Release(Acquire());
  graphs_->Release(Acquire());
  Pass(absl::Seconds(5));
  cuda_.SetManual(true);
  testing::FakeLaunch launch;
  launch.name = "long";
  ASSERT_EQ(cuda_.LaunchOwn(streams_[0].get(), launch,
                            [](const testing::FakeKernelCall&) {}),
            CUDA_SUCCESS);
  const GraphClock::Reference old = Acquire(0);  // behind "long"
  EXPECT_EQ(Acquire(1), old);
  cuda_.CompleteAll();
  EXPECT_NE(Acquire(1), old);
}

TEST_F(GraphClockTest, ErrorsOfTheDriverArePassedOn) {
  cuda_.FailAt("EventRecord", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(graphs_->Acquire(streams_[0].get(), clock_.Now()),
              StatusIs(absl::StatusCode::kUnavailable));
  cuda_.FailAt("EventElapsedTime", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(graphs_->TimeOf(event_.get(), 0),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace reprise::cuda
