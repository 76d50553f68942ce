#include "runtime/worker/variant_builder.h"

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/worker_testing.h"

namespace reprise {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::FakeDevice;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TestConfig;
using ::reprise::testing::TestModel;
using ::reprise::testing::TestSignature;

// Has jobs, and keeps what they come to.
class JobOwner final : public VariantBuilder::Owner {
 public:
  struct Result {
    Variant* variant;
    absl::Status status;
    Prepared made;
  };

  void Give(VariantBuilder::Job job) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    jobs_.push_back(std::move(job));
  }

  // Blocks until `count` jobs have ended in all.
  std::vector<Result> Await(size_t count) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto ended = [this, count] {
      mu_.AssertReaderHeld();
      return results_.size() >= count;
    };
    mu_.Await(absl::Condition(&ended));
    return std::move(results_);
  }

  VariantBuilder::Job NextBuild() override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (jobs_.empty()) return {};
    VariantBuilder::Job job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }

  void Built(const VariantBuilder::Job& job, const absl::Status& status,
             Prepared made) override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    results_.push_back({job.variant, status, std::move(made)});
  }

 private:
  absl::Mutex mu_;
  std::deque<VariantBuilder::Job> jobs_ ABSL_GUARDED_BY(mu_);
  std::vector<Result> results_ ABSL_GUARDED_BY(mu_);
};

class VariantBuilderTest : public ::testing::Test {
 protected:
  VariantBuilderTest() {
    served_.loaded = fake_.Load(model_.version().signature());
    builder_.Start();
  }

  FakeClock clock_;
  FakeDevice fake_{clock_};
  const std::unique_ptr<Device> device_ = fake_.Make();
  prometheus::Registry registry_;
  WorkerMetrics metrics_{registry_, std::nullopt};
  const TestModel model_{1, TestConfig(), TestSignature(8, kFreeDim)};
  Served served_{model_.version(), metrics_};
  JobOwner owner_;
  VariantBuilder builder_{owner_, metrics_, clock_};
};

TEST_F(VariantBuilderTest, PreparesEveryLaneOfWhatItsOwnerHas) {
  Variant& one = served_.AddVariant({3});
  Variant& two = served_.AddVariant({4});
  owner_.Give({&one, {.sizes = {1, 2}, .lanes = 2}});
  owner_.Give({&two, {.sizes = {8}}});
  builder_.Request();  // once for all of them
  const std::vector<JobOwner::Result> results = owner_.Await(2);
  EXPECT_EQ(results[0].variant, &one);
  EXPECT_THAT(results[0].status, IsOk());
  ASSERT_EQ(results[0].made.lanes.size(), 2U);
  EXPECT_EQ(results[0].made.lanes[1]->ladder().back().rows, 2);
  EXPECT_EQ(results[0].made.metrics->rungs.size(), 2U);
  EXPECT_EQ(results[1].variant, &two);
}

TEST_F(VariantBuilderTest, GivesBackWhatAFailureLeft) {
  fake_.FailPrepare({3}, absl::ResourceExhaustedError("arena"));
  owner_.Give({&served_.AddVariant({3}), {.sizes = {1}}});
  builder_.Request();
  const std::vector<JobOwner::Result> results = owner_.Await(1);
  EXPECT_THAT(results[0].status,
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(results[0].made.metrics, nullptr);
}

TEST_F(VariantBuilderTest, AfterItsStopNothingIsMade) {
  builder_.Stop();
  owner_.Give({&served_.AddVariant({3}), {.sizes = {1}}});
  builder_.Request();
  EXPECT_EQ(fake_.prepares(), 0);
}

}  // namespace
}  // namespace reprise
