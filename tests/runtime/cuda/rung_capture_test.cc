#include "runtime/cuda/rung_capture.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/neg_model.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeLaunch;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<int> Rows(const Executable& executable) {
  std::vector<int> rows;
  for (const Rung& rung : executable.ladder()) rows.push_back(rung.rows);
  return rows;
}

// A rung is captured once for each bank, the largest first.
int RecordingOf(int rung, int rungs) { return (rungs - 1 - rung) * kBanks + 1; }

TEST(RungCaptureTest, EveryRungIsWarmedUpOnceAndCapturedForEveryBank) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  const auto executable = neg.Prepare({1, 2, 4});
  ASSERT_THAT(executable, IsOk());
  EXPECT_EQ(neg.observer.of(RunKind::kWarmUp), 3);
  EXPECT_EQ(neg.observer.of(RunKind::kCheck), 3 * kBanks);
  EXPECT_EQ(neg.observer.captured, 3 * kBanks);
  EXPECT_EQ((*executable)->captured_graphs(), 3 * kBanks);
  EXPECT_EQ(neg.cuda.live().execs, 3 * kBanks);
  EXPECT_EQ(neg.observer.of(RunKind::kBatch), 0);
  EXPECT_THAT(neg.Run(**executable, {1, 2, 3, 4}),
              ::reprise::testing::IsOkAndHolds(ElementsAre(-1, -2, -3, -4)));
  EXPECT_EQ(neg.observer.of(RunKind::kBatch), 1);
  EXPECT_THAT(neg.cuda.misuses(), IsEmpty());
}

TEST(RungCaptureTest, AStrictLoadFailsWithTheRungThatDid) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  neg.cuda.FailAt("StreamBeginCapture", RecordingOf(1, 3),
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_THAT(neg.Prepare({1, 2, 4}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("rung 2"),
                             HasSubstr("STREAM_CAPTURE_UNSUPPORTED"))));
  EXPECT_EQ(neg.cuda.live().execs, 0);
  EXPECT_EQ(neg.observer.left_out, 0);
}

TEST(RungCaptureTest, OtherwiseTheRungIsLeftOutAndTheNextOneTakesItsBatches) {
  NegModel neg;
  ASSERT_THAT(neg.Load({.strict_graphs = false}), IsOk());
  neg.cuda.FailAt("StreamBeginCapture", RecordingOf(0, 3),
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const auto executable = neg.Prepare({1, 2, 4});
  ASSERT_THAT(executable, IsOk());
  EXPECT_THAT(Rows(**executable), ElementsAre(2, 4));
  EXPECT_EQ(neg.observer.left_out, 1);
  EXPECT_THAT(neg.Run(**executable, {1, 2, 3, 4}),
              ::reprise::testing::IsOkAndHolds(ElementsAre(-1, -2, -3, -4)));
  // A further lane has the ladder of the first one.
  const auto other = neg.model->Prepare({}, {1, 2, 4}, /*lane=*/1);
  ASSERT_THAT(other, IsOk());
  EXPECT_THAT(Rows(**other), ElementsAre(2, 4));
}

TEST(RungCaptureTest, TheLargestRungIsNeverLeftOut) {
  NegModel neg;
  ASSERT_THAT(neg.Load({.strict_graphs = false}), IsOk());
  neg.cuda.FailAt("StreamBeginCapture", 1,
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_THAT(
      neg.Prepare({1, 2, 4}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("rung 4")));
}

TEST(RungCaptureTest, ALostDeviceIsNoRungToBeLeftOut) {
  NegModel neg;
  ASSERT_THAT(neg.Load({.strict_graphs = false}), IsOk());
  neg.cuda.FailAt("StreamBeginCapture", RecordingOf(0, 3),
                  CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THAT(neg.Prepare({1, 2, 4}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("rung 1")));
}

// As a library might.
TEST(RungCaptureTest, AProbeStandsBeforeAndAfterTheActionsOfEveryGraph) {
  class Marks final : public GraphProbe {
   public:
    absl::Status Begin(const CurrentContext& current,
                       CUstream stream) override {
      return Set(current, stream);
    }
    absl::Status End(const CurrentContext& current, CUstream stream) override {
      return Set(current, stream);
    }
    int calls = 0;
    CUdeviceptr to = 0;

   private:
    absl::Status Set(const CurrentContext& current, CUstream stream) {
      ++calls;
      return ToStatus(current.driver(),
                      current.driver().MemsetD8Async(to, 1, 4, stream),
                      "a mark");
    }
  };
  NegModel neg;
  Marks marks;
  ASSERT_THAT(neg.Load({.probe = &marks}), IsOk());
  ASSERT_EQ(neg.cuda.driver().MemAlloc(&marks.to, 4), CUDA_SUCCESS);
  const auto executable = neg.Prepare({1, 2});
  ASSERT_THAT(executable, IsOk());
  EXPECT_EQ(marks.calls, 2 * 2 * kBanks);
  EXPECT_THAT(neg.Run(**executable, {1, 2, 3, 4}), IsOk());
  EXPECT_EQ(neg.cuda.driver().MemFree(marks.to), CUDA_SUCCESS);
}

}  // namespace
}  // namespace reprise::cuda
