#include "server/grpc/slow_log.h"

#include "gmock/gmock.h"
#include "tests/server/fake_model_manager.h"

namespace reprise::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kOk = absl::StatusCode::kOk;

class Task final : public InferTask {
 public:
  void Complete(TaskResult /*result*/) override {}
};

TEST(SlowLogTest, TheStageInWhichARequestEndedIsTheLast) {
  const ModelHandle model = MakeModel("simple", SimpleSignature(), {}, 3);
  Task task;
  task.rows = 2;
  task.arrival = absl::FromUnixSeconds(10);
  StageTimes times;
  times.enqueued = task.arrival + absl::Milliseconds(1);
  times.picked = task.arrival + absl::Milliseconds(5);
  const absl::Time end = task.arrival + absl::Milliseconds(20);
  const std::string line = SlowLog::Line(
      {*model, "r1", task, times, end, absl::StatusCode::kDeadlineExceeded});
  EXPECT_THAT(
      line,
      HasSubstr(
          "model=simple version=3 code=DEADLINE_EXCEEDED rows=2 id=\"r1\" "
          "total_ms=20.000 accept_ms=1.000 "
          "queue_ms=4.000 gather_ms=15.000"));
  EXPECT_THAT(line, Not(HasSubstr("compute_ms")));
}

TEST(SlowLogTest, ANameWithASpaceStaysOneField) {
  const ModelHandle model = MakeModel("a b", SimpleSignature());
  EXPECT_THAT(SlowLog::Line({*model, "", Task(), StageTimes(),
                             absl::FromUnixSeconds(10), absl::StatusCode::kOk}),
              HasSubstr("model=\"a b\" version="));
}

TEST(SlowLogTest, TheStagesAddUpHoweverTheRequestEnded) {
  const ModelHandle model = MakeModel("simple", SimpleSignature());
  Task task;
  task.arrival = absl::FromUnixSeconds(10);
  const absl::Time end = task.arrival + absl::Milliseconds(150);
  StageTimes times;
  const auto line = [&] {
    return SlowLog::Line({*model, "", task, times, end, kOk});
  };
  EXPECT_THAT(line(), EndsWith(" total_ms=150.000 accept_ms=150.000"));
  times.enqueued = task.arrival + absl::Milliseconds(1);  // it waited in vain
  EXPECT_THAT(line(), EndsWith(" accept_ms=1.000 queue_ms=149.000"));
  times.picked = times.enqueued + absl::Milliseconds(2);
  times.gathered = times.picked + absl::Milliseconds(3);
  EXPECT_THAT(line(), EndsWith(" queue_ms=2.000 gather_ms=3.000 "
                               "compute_ms=144.000"));
  times.computed = times.gathered + absl::Milliseconds(4);
  EXPECT_THAT(line(), EndsWith(" compute_ms=4.000 reply_ms=140.000"));
}

TEST(SlowLogTest, AnIdIsShownAsItIsUpToABound) {
  const ModelHandle model = MakeModel("simple", SimpleSignature());
  Task task;
  task.arrival = absl::FromUnixSeconds(10);
  const auto line = [&](absl::string_view id) {
    return SlowLog::Line({*model, id, task, {}, task.arrival, kOk});
  };
  EXPECT_THAT(line("a \"b\" \\ c"), HasSubstr(R"( id="a \"b\" \\ c" total)"));
  const std::string long_id(63, 'x');
  EXPECT_THAT(line(long_id + "\u00e4" + std::string(9000, 'y')),
              HasSubstr(" id=\"" + long_id + "\" total_ms"));
}

TEST(SlowLogTest, FastRequestsAndAZeroBoundWriteNothing) {
  const ModelHandle model = MakeModel("simple", SimpleSignature());
  Task task;
  task.arrival = absl::FromUnixSeconds(10);
  const StageTimes times;
  const absl::Time end = task.arrival + absl::Seconds(1);
  ::testing::internal::CaptureStderr();
  SlowLog(absl::ZeroDuration()).Observe({*model, "", task, times, end, kOk});
  SlowLog(absl::Seconds(2)).Observe({*model, "", task, times, end, kOk});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(SlowLogTest, AtMostTenLinesASecondAndTheRestIsCounted) {
  const ModelHandle model = MakeModel("simple", SimpleSignature());
  Task task;
  task.arrival = absl::FromUnixSeconds(10);
  const StageTimes times;
  SlowLog log(absl::Milliseconds(1));
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 25; ++i) {
    log.Observe(
        {*model, "", task, times, task.arrival + absl::Seconds(1), kOk});
  }
  log.Observe({*model, "", task, times, task.arrival + absl::Seconds(3), kOk});
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  EXPECT_THAT(text, HasSubstr("not_shown=15"));
}

}  // namespace
}  // namespace reprise::testing
