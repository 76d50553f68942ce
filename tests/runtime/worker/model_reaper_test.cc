#include "runtime/worker/model_reaper.h"

#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/worker/recording_worker.h"

namespace reprise {
namespace {

using ::reprise::testing::RecordingWorker;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<const ModelVersion> MakeVersion(uint64_t uid) {
  return std::make_unique<const ModelVersion>(uid, "m", 1, ModelConfig{},
                                              Signature{});
}

TEST(ModelReaperTest, TheLastHandleRemovesTheVersionFromEveryWorker) {
  RecordingWorker first;
  RecordingWorker second;
  std::vector<uint64_t> gone;
  ModelReaper reaper(
      [&](const ModelVersion& version) { gone.push_back(version.uid()); });
  ModelHandle handle = reaper.Adopt(MakeVersion(7), {&first, &second});
  ModelHandle copy = handle;
  handle.reset();
  EXPECT_THAT(first.removed(), IsEmpty());
  copy.reset();
  reaper.AwaitGone(7);
  EXPECT_THAT(first.removed(), ElementsAre(7));
  EXPECT_THAT(second.removed(), ElementsAre(7));
  EXPECT_THAT(gone, ElementsAre(7));
  reaper.AwaitGone(99);  // never there: returns at once
}

TEST(ModelReaperTest, WhoDropsAHandleDoesNotWaitForTheWorker) {
  RecordingWorker worker;
  worker.HoldRemove(true);
  ModelReaper reaper([](const ModelVersion&) {});
  reaper.Adopt(MakeVersion(1), {&worker}).reset();  // returns
  worker.AwaitRemoveBegun();
  EXPECT_THAT(worker.removed(), IsEmpty());
  worker.HoldRemove(false);
  reaper.AwaitGone(1);
  EXPECT_THAT(worker.removed(), ElementsAre(1));
  EXPECT_FALSE(worker.removed_on_this_thread());
}

TEST(ModelReaperTest, StopRemovesWhatWasHandedOver) {
  RecordingWorker worker;
  ModelReaper reaper([](const ModelVersion&) {});
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    reaper.Adopt(MakeVersion(uid), {&worker}).reset();
  }
  reaper.Stop();
  EXPECT_THAT(worker.removed(), ElementsAre(1, 2, 3));
}

TEST(ModelReaperTest, AHandleMayOutliveReaperAndWorkers) {
  ModelHandle handle;
  {
    RecordingWorker worker;
    ModelReaper reaper([](const ModelVersion&) {});
    handle = reaper.Adopt(MakeVersion(1), {&worker});
    reaper.Stop();
    reaper.AwaitGone(1);  // a stopped reaper keeps nobody waiting
  }
  EXPECT_EQ(handle->uid(), 1U);
  handle.reset();  // a leak or a use after free shows under the sanitizers
}

}  // namespace
}  // namespace reprise
