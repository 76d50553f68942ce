#include "runtime/cuda/run_record.h"

#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "runtime/base/thread.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/stream.h"
#include "tests/runtime/cuda/context_fixture.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_stamps.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;

constexpr std::byte kImage[4] = {};

class RunRecordTest : public ContextFixture {
 protected:
  void SetUp() override {
    ContextFixture::SetUp();
    testing::AddStampKernels(cuda_);
    modules_ = std::make_unique<Modules>();
    ASSERT_THAT(modules_->Add(*current_, "all", kImage), IsOk());
    auto stamps = GraphStamps::Create(*current_, *modules_);
    ASSERT_THAT(stamps, IsOk());
    stamps_ = *std::move(stamps);
    auto stream = MakeStream(*current_);
    ASSERT_THAT(stream, IsOk());
    stream_ = *std::move(stream);
  }

  // As a replay leaves its time, without a graph.
  void RunFor(absl::Duration time, RunRecord& run) {
    ASSERT_THAT(stamps_->Begin(stream_.get()), IsOk());
    cuda_.Advance(time);
    ASSERT_THAT(stamps_->End(stream_.get()), IsOk());
    run.replay = stamps_->Number();
  }
  void Mark(const UniqueEvent& event) {
    ASSERT_EQ(cuda_.driver().EventRecord(event.get(), stream_.get()),
              CUDA_SUCCESS);
  }

  std::unique_ptr<Modules> modules_;
  std::unique_ptr<GraphStamps> stamps_;
  UniqueStream stream_;
};

TEST_F(RunRecordTest, AGraphsTimeIsItsStamps) {
  auto run = RunRecord::Create(*current_);
  ASSERT_THAT(run, IsOk());
  EXPECT_EQ(cuda_.live().events, 6);
  RunFor(absl::Microseconds(70), *run);
  const auto times = TimesOf(cuda_.driver(), *stamps_, *run);
  ASSERT_THAT(times, IsOk());
  EXPECT_EQ(times->graph, absl::Microseconds(70));
  EXPECT_TRUE(times->graph_begun.has_value());
  EXPECT_EQ(times->copy_in, absl::ZeroDuration());
  EXPECT_EQ(times->copy_out, absl::ZeroDuration());
}

TEST_F(RunRecordTest, CopiesThatAreTimedHaveTheirEvents) {
  auto run = RunRecord::Create(*current_);
  ASSERT_THAT(run, IsOk());
  run->copies_timed = true;
  Mark(run->in_begin);
  cuda_.Advance(absl::Microseconds(30));
  Mark(run->in_end);
  RunFor(absl::Microseconds(70), *run);
  Mark(run->out_begin);
  cuda_.Advance(absl::Microseconds(20));
  Mark(run->out_end);
  const auto times = TimesOf(cuda_.driver(), *stamps_, *run);
  ASSERT_THAT(times, IsOk());
  EXPECT_NEAR(absl::ToDoubleMicroseconds(times->copy_in), 30, 0.1);
  EXPECT_NEAR(absl::ToDoubleMicroseconds(times->copy_out), 20, 0.1);
}

TEST_F(RunRecordTest, ATimeThatIsNotToBeHadIsAnError) {
  auto run = RunRecord::Create(*current_);
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(TimesOf(cuda_.driver(), *stamps_, *run),
              StatusIs(absl::StatusCode::kInternal));  // nothing ran
  RunFor(absl::Microseconds(70), *run);
  run->copies_timed = true;
  Mark(run->in_begin);
  Mark(run->in_end);
  cuda_.FailAt("EventElapsedTime", 1, CUDA_ERROR_INVALID_HANDLE);
  EXPECT_THAT(TimesOf(cuda_.driver(), *stamps_, *run),
              StatusIs(absl::StatusCode::kInternal));
}

TEST_F(RunRecordTest, WithoutAnEventThereIsNoRecord) {
  const auto before = cuda_.live();
  for (int n = 1; n <= 6; ++n) {
    cuda_.FailAt("EventCreate", n, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_THAT(RunRecord::Create(*current_),
                StatusIs(absl::StatusCode::kResourceExhausted))
        << n;
    EXPECT_EQ(cuda_.live(), before) << n;
  }
}

TEST_F(RunRecordTest, RecordsStayWhereTheyAre) {
  RunRecords records;
  ASSERT_THAT(records.Add(*current_, 2), IsOk());
  RunRecord* const first = &records.At(0);
  first->rung = 7;
  ASSERT_THAT(records.Add(*current_, 40), IsOk());
  EXPECT_EQ(&records.At(0), first);
  EXPECT_EQ(records.At(0).rung, 7);
  EXPECT_NE(&records.At(41), first);
}

TEST(AttentionTest, AWakeUpIsTakenOnce) {
  FakeClock clock;
  Attention attention(clock);
  EXPECT_FALSE(attention.Take());
  attention.Wake();
  attention.Wake();
  EXPECT_TRUE(attention.Take());
  EXPECT_FALSE(attention.Take());
}

TEST(AttentionTest, RestEndsWithTheTimeOrAWakeUp) {
  FakeClock clock;
  Attention attention(clock);
  const absl::Time until = clock.Now() + absl::Seconds(5);
  Thread sleeper("sleeper", [&] { attention.Rest(until); });
  clock.AwaitDeadline(until);
  clock.Advance(absl::Seconds(5));
  sleeper.Join();
  attention.Wake();
  attention.Rest(absl::InfiniteFuture());  // at once
  EXPECT_TRUE(attention.Take());
}

}  // namespace
}  // namespace reprise::cuda
