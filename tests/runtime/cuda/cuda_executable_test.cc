#include "runtime/cuda/cuda_executable.h"

#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/device/fault.h"
#include "tests/runtime/cuda/neg_model.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kRow = NegModel::kRow;
// With this many rows copies have streams of their own.
constexpr int kManyRows = (256 << 10) / static_cast<int>(kRow * sizeof(float));

class CudaExecutableTest : public ::testing::Test {
 protected:
  void TearDown() override {
    executable_ = nullptr;
    EXPECT_THAT(neg_->cuda.misuses(), IsEmpty());
  }

  void Serve(const std::vector<int>& ladder,
             NegModel::Kernel kernel = nullptr) {
    neg_ = std::make_unique<NegModel>(std::move(kernel));
    ASSERT_THAT(neg_->Load(), IsOk());
    auto executable = neg_->Prepare(ladder);
    ASSERT_THAT(executable, IsOk());
    executable_ = *std::move(executable);
  }
  // A slot whose first `rows` rows are `value`.
  SlotLease Filled(int rows, float value) {
    SlotLease slot = executable_->AcquireSlot();
    EXPECT_TRUE(slot);
    auto* const x = reinterpret_cast<float*>(slot->input(0).data());
    std::fill(x, x + static_cast<size_t>(rows) * kRow, value);
    return slot;
  }
  absl::StatusOr<RunTimes> Await(Slot& slot) {
    return executable_->Wait(slot, absl::InfiniteFuture());
  }
  static float Answer(const Slot& slot, int row) {
    float value = 0;
    std::memcpy(
        &value,
        slot.output(0).data() + static_cast<size_t>(row) * kRow * sizeof(float),
        sizeof(value));
    return value;
  }

  std::unique_ptr<NegModel> neg_;
  std::unique_ptr<Executable> executable_;
};

TEST_F(CudaExecutableTest, PaddingRowsAreCopiesOfTheFirst) {
  std::vector<float> seen;
  Serve({8}, [&seen](const float* x, float* y, size_t count) {
    seen.assign(x, x + count);
    for (size_t i = 0; i < count; ++i) y[i] = -x[i];
  });
  {
    const SlotLease stale = Filled(8, 99);
    ASSERT_THAT(executable_->Submit(*stale, 8), IsOk());
    ASSERT_THAT(Await(*stale), IsOk());
  }
  const SlotLease slot = Filled(3, 5);
  ASSERT_THAT(executable_->Submit(*slot, 3), IsOk());
  ASSERT_THAT(Await(*slot), IsOk());
  EXPECT_EQ(seen.size(), 8 * kRow);
  EXPECT_THAT(seen, Each(5.0F));
}

TEST_F(CudaExecutableTest, MuchPaddingIsMadeOnTheDevice) {
  std::vector<float> seen;
  Serve({kManyRows}, [&seen](const float* x, float* y, size_t count) {
    seen.assign(x, x + count);
    for (size_t i = 0; i < count; ++i) y[i] = -x[i];
  });
  const SlotLease slot = Filled(3, 5);
  ASSERT_THAT(executable_->Submit(*slot, 3), IsOk());
  ASSERT_THAT(Await(*slot), IsOk());
  EXPECT_EQ(seen.size(), static_cast<size_t>(kManyRows) * kRow);
  EXPECT_THAT(seen, Each(5.0F));
}

TEST_F(CudaExecutableTest, NothingIsMadeWhileItServes) {
  Serve({1, 2, 4});
  // All that a batch calls: nothing of it makes anything, or waits.
  const std::vector<std::string> of_batches = {"MemcpyHtoDAsync", "GraphLaunch",
                                               "MemcpyDtoHAsync", "EventRecord",
                                               "EventQuery"};
  const auto others = [&] {
    int calls = neg_->cuda.calls();
    for (const std::string& call : of_batches) calls -= neg_->cuda.calls(call);
    return calls;
  };
  const int before = others();
  const auto live = neg_->cuda.live();
  for (int i = 0; i < 1000; ++i) {
    const SlotLease slot = Filled(1 + i % 4, static_cast<float>(i));
    ASSERT_THAT(executable_->Submit(*slot, 1 + i % 4), IsOk());
    ASSERT_THAT(Await(*slot), IsOk());
    ASSERT_EQ(Answer(*slot, i % 4), -static_cast<float>(i));
  }
  EXPECT_EQ(others(), before);
  EXPECT_EQ(neg_->cuda.live(), live);
  EXPECT_EQ(neg_->observer.of(RunKind::kBatch), 1000);
}

TEST_F(CudaExecutableTest, SmallBatchesStayInOneStreamAndAreTimedByStamps) {
  Serve({1, 2});
  const int waits = neg_->cuda.calls("StreamWaitEvent");
  const int events = neg_->cuda.calls("EventRecord");
  neg_->cuda.SetKernelTime(NegModel::kKernel, absl::Microseconds(33));
  const SlotLease slot = Filled(2, 1);
  ASSERT_THAT(executable_->Submit(*slot, 2), IsOk());
  const auto times = Await(*slot);
  ASSERT_THAT(times, IsOk());
  EXPECT_EQ(times->graph, absl::Microseconds(33));
  EXPECT_EQ(times->copy_in, absl::ZeroDuration());
  EXPECT_EQ(neg_->cuda.calls("StreamWaitEvent"), waits);
  EXPECT_EQ(neg_->cuda.calls("EventRecord"), events + 1);
}

// By the GPU's clock the copies of a batch and the graph of the one before go
// on at the same time.
TEST_F(CudaExecutableTest, LargeBatchesAreCopiedInWhileTheOneBeforeRuns) {
  Serve({kManyRows});
  neg_->cuda.SetCopyTime(absl::Microseconds(80));
  neg_->cuda.SetKernelTime(NegModel::kKernel, absl::Microseconds(100));
  std::vector<SlotLease> slots;
  for (int i = 0; i < 3; ++i) {
    slots.push_back(Filled(kManyRows, static_cast<float>(i + 1)));
    ASSERT_THAT(executable_->Submit(*slots.back(), kManyRows), IsOk());
  }
  std::vector<RunTimes> runs;
  for (int i = 0; i < 3; ++i) {
    const auto times = Await(*slots[static_cast<size_t>(i)]);
    ASSERT_THAT(times, IsOk());
    runs.push_back(*times);
    EXPECT_EQ(Answer(*slots[static_cast<size_t>(i)], kManyRows - 1),
              -static_cast<float>(i + 1));
  }
  for (const RunTimes& run : runs) {
    EXPECT_EQ(run.graph, absl::Microseconds(100));
    EXPECT_NEAR(absl::ToDoubleMicroseconds(run.copy_in), 80, 0.1);
    EXPECT_NEAR(absl::ToDoubleMicroseconds(run.copy_out), 80, 0.1);
  }
  // One after the other the second batch would begin 180 us later.
  EXPECT_EQ(*runs[1].graph_begun - *runs[0].graph_begun,
            absl::Microseconds(100));
}

// Two banks, three batches: the third one may not overwrite what the first one
// is still computing from.
TEST_F(CudaExecutableTest, ABankIsWrittenWhenItsBatchIsOver) {
  Serve({kManyRows});
  neg_->cuda.HoldKernel(NegModel::kKernel, true);
  std::vector<SlotLease> slots;
  for (int i = 0; i < 3; ++i) {
    slots.push_back(Filled(kManyRows, static_cast<float>(i + 1)));
    ASSERT_THAT(executable_->Submit(*slots.back(), kManyRows), IsOk());
  }
  neg_->cuda.HoldKernel(NegModel::kKernel, false);
  neg_->cuda.CompleteAll();
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(Await(*slots[static_cast<size_t>(i)]), IsOk());
    EXPECT_EQ(Answer(*slots[static_cast<size_t>(i)], 0),
              -static_cast<float>(i + 1));
  }
}

TEST_F(CudaExecutableTest, WaitEndsByDeadlineAndByWakeAndMayBeRepeated) {
  Serve({1});
  neg_->cuda.HoldKernel(NegModel::kKernel, true);
  const SlotLease slot = Filled(1, 4);
  ASSERT_THAT(executable_->Submit(*slot, 1), IsOk());
  EXPECT_THAT(executable_->Wait(*slot, neg_->clock.Now()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  neg_->device->Wake();
  EXPECT_THAT(Await(*slot), StatusIs(absl::StatusCode::kAborted));
  neg_->cuda.HoldKernel(NegModel::kKernel, false);
  neg_->cuda.CompleteAll();
  ASSERT_THAT(Await(*slot), IsOk());
  EXPECT_EQ(Answer(*slot, 0), -4);
  EXPECT_THAT(Await(*slot), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(CudaExecutableTest, AFaultOfAKernelIsTheRuns) {
  Serve({1});
  neg_->cuda.FaultKernel(NegModel::kKernel, CUDA_ERROR_ILLEGAL_ADDRESS);
  const SlotLease slot = Filled(1, 4);
  absl::Status status = executable_->Submit(*slot, 1);
  if (status.ok()) status = Await(*slot).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("ILLEGAL_ADDRESS")));
  EXPECT_TRUE(IsDeviceFault(status));
}

TEST_F(CudaExecutableTest, RowsThatNoRungHoldsAreRefused) {
  Serve({1, 2});
  const SlotLease slot = Filled(1, 4);
  EXPECT_THAT(
      executable_->Submit(*slot, 3),
      StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("the largest has 2")));
  EXPECT_THAT(executable_->Submit(*slot, 0),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(Await(*slot), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(CudaExecutableTest, TimesOfRunsRefreshTheTable) {
  Serve({1});
  neg_->cuda.SetKernelTime(NegModel::kKernel, absl::Milliseconds(2));
  const absl::Duration before = executable_->ladder()[0].p50;
  for (int i = 0; i < 200; ++i) {
    const SlotLease slot = Filled(1, 4);
    ASSERT_THAT(executable_->Submit(*slot, 1), IsOk());
    ASSERT_THAT(Await(*slot), IsOk());
  }
  EXPECT_GT(executable_->ladder()[0].p50, 3 * before);
}

}  // namespace
}  // namespace reprise::cuda
