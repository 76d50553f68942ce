// Tasks and models for tests of a device worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/batch/infer_task.h"
#include "runtime/model/model_version.h"
#include "runtime/worker/device_worker.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_device.h"

namespace reprise::testing {

// A request with one INT64 input whose every element is `tag` + its row.
//
// Threads: as InferTask; the test's methods from any thread.
class TestTask final : public InferTask {
 public:
  // `elements` a row: the free dim `n` of TestSignature(kFreeDim), if given.
  explicit TestTask(int64_t tag, int rows_of = 1, int64_t elements = 1);

  void Complete(TaskResult result) override ABSL_LOCKS_EXCLUDED(mu_);

  // Sets queue_limit and timeout_us as the server does for `timeout`.
  TestTask& Timeout(absl::Duration timeout, absl::Time now);
  TestTask& Deadline(absl::Time at);
  TestTask& Priority(uint64_t level);
  TestTask& Variant(int64_t n);  // for a model with the free dim `n`

  // Blocks until it is completed.
  absl::Status Await() ABSL_LOCKS_EXCLUDED(mu_);
  bool done() const ABSL_LOCKS_EXCLUDED(mu_);
  int completions() const ABSL_LOCKS_EXCLUDED(mu_);
  StageTimes times() const ABSL_LOCKS_EXCLUDED(mu_);
  // The first element of each row of output 0; the output is kept.
  std::vector<int64_t> rows_answered() const ABSL_LOCKS_EXCLUDED(mu_);
  bool may_hold_slot() const ABSL_LOCKS_EXCLUDED(mu_);
  void DropOutput() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  std::vector<int64_t> data_;
  mutable absl::Mutex mu_;
  int completions_ ABSL_GUARDED_BY(mu_) = 0;
  TaskResult result_ ABSL_GUARDED_BY(mu_);
};

// Input "x" and output "y", INT64 [n]; n is the free symbol "n" if kFreeDim.
Signature TestSignature(int max_batch = 8, int64_t n = 1);

// Dynamic batching on, ladder 1 2 4 8.
ModelConfig TestConfig(std::vector<int> ladder = {1, 2, 4, 8});

// A model version on a fake device, with the variants named (none: the one of a
// model without free dims).
class TestModel {
 public:
  TestModel(uint64_t uid, ModelConfig config,
            Signature signature = TestSignature(), std::string name = "m");

  // What DeviceWorker::Add takes.
  ServedModel Make(FakeDevice& fake,
                   const std::vector<VariantKey>& keys = {{}});

  const ModelVersion& version() const { return version_; }

 private:
  const ModelVersion version_;
};

// Workers on fake devices under a clock that the test advances; one of them,
// `worker_`, serves `model_` as number 1.
class WorkerFixture : public ::testing::Test {
 protected:
  std::unique_ptr<DeviceWorker> MakeWorker(FakeDevice& fake,
                                           const WorkerOptions& options = {});
  // Makes `worker_` serve `model`, with the variants named, on a device.
  void Serve(std::unique_ptr<TestModel> model, FakeDeviceOptions options,
             const std::vector<VariantKey>& keys = {{}},
             const WorkerOptions& worker = {});
  // A task that is kept, and is offered to `worker_`.
  TestTask& Offer(int64_t tag, int rows = 1);

  // The worker waits for the outputs that it gave out: drops them.
  void TearDown() override;

  FakeClock clock_;
  prometheus::Registry registry_;
  std::deque<TestTask> tasks_;
  std::unique_ptr<FakeDevice> fake_;
  std::unique_ptr<TestModel> model_;
  std::unique_ptr<DeviceWorker> worker_;
};

}  // namespace reprise::testing
