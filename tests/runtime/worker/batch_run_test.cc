#include "runtime/worker/batch_run.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "runtime/worker/served.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::FakeDevice;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestTask;

class CountingOwner final : public BatchRun::Owner {
 public:
  ~CountingOwner() override = default;
  void Recycle(BatchRun& run) override {
    ++recycled;
    run.slot.Reset();
  }
  int recycled = 0;
};

class BatchRunTest : public ::testing::Test {
 protected:
  BatchRunTest() {
    ServedModel made = model_.Make(fake_);
    loaded_ = std::move(made.loaded);
    executable_ = std::move(made.variants[0].lanes[0]);
    run_.Begin(variant_, *executable_, executable_->AcquireSlot(), 0);
  }

  void Join(TestTask& task) {
    Waiting waiting;
    waiting.task = &task;
    waiting.rows = task.rows;
    run_.Join(waiting);
  }

  int64_t Row(int row) {
    int64_t value = 0;
    std::memcpy(&value, run_.slot->input(0).data() + row * 8, 8);
    return value;
  }

  FakeClock clock_;
  FakeDevice fake_{clock_};
  prometheus::Registry registry_;
  WorkerMetrics metrics_{registry_, std::nullopt};
  TestModel model_{1, TestConfig()};
  Served served_{model_.version(), metrics_};
  Variant& variant_ = served_.AddVariant({});
  std::unique_ptr<LoadedModel> loaded_;
  std::unique_ptr<Executable> executable_;
  CountingOwner owner_;
  BatchRun run_{owner_};
};

TEST_F(BatchRunTest, RequestsStandBehindEachOther) {
  TestTask a(10, 2);
  TestTask b(20, 3);
  Join(a);
  Join(b);
  EXPECT_EQ(run_.members[1].first_row, 2);
  EXPECT_EQ(run_.rows, 5);
  EXPECT_EQ(run_.live_members(), 2);
  run_.members[1].live = false;
  EXPECT_EQ(run_.live_rows(), 2);
  run_.Unref();
}

TEST_F(BatchRunTest, HolesBecomeCopiesOfALiveRow) {
  TestTask a(10, 1);
  TestTask b(20, 2);
  TestTask c(30, 1);
  for (TestTask* task : {&a, &b, &c}) Join(*task);
  for (const BatchRun::Member& member : run_.members) {
    ASSERT_TRUE(Gather(*member.waiting.task, run_.buffers, member.first_row,
                       executable_->signature())
                    .ok());
  }
  run_.members[0].live = false;
  run_.members[2].live = false;
  run_.NoteHoles();
  run_.members[1].live = false;  // answered meanwhile: it runs, all the same
  run_.PadHoles();
  EXPECT_EQ(Row(0), 20);
  EXPECT_EQ(Row(1), 20);
  EXPECT_EQ(Row(2), 21);
  EXPECT_EQ(Row(3), 20);
  run_.Unref();
}

TEST_F(BatchRunTest, TheLastShareRecyclesIt) {
  {
    const BatchOutput share(&run_, 0, 1);
    run_.Unref();  // the worker's own
    EXPECT_EQ(owner_.recycled, 0);
    EXPECT_EQ(fake_.slots_out(), 1);
  }
  EXPECT_EQ(owner_.recycled, 1);
  EXPECT_EQ(fake_.slots_out(), 0);
}

}  // namespace
}  // namespace reprise
