#include "server/grpc/slow_log.h"

#include "gmock/gmock.h"
#include "tests/server/fake_model_manager.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kOk = absl::StatusCode::kOk;

class Task final : public InferTask {
 public:
  void Complete(TaskResult /*result*/) override {}
};

TEST(SlowLogTest, ALineHasTheStagesThatTheRequestReached) {
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
      HasSubstr("model=simple version=3 code=DEADLINE_EXCEEDED rows=2 id='r1' "
                "total_ms=20.000 accept_ms=1.000 "
                "queue_ms=4.000"));
  EXPECT_THAT(line, Not(HasSubstr("compute_ms")));
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
