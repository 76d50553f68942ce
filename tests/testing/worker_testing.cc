#include "tests/testing/worker_testing.h"

#include <cstring>
#include <span>

#include "gtest/gtest.h"

namespace reprise::testing {

TestTask::TestTask(int64_t tag, int rows_of, int64_t elements) {
  rows = rows_of;
  for (int row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < elements; ++i) data_.push_back(tag + row);
  }
  InputRows input;
  input.pieces.push_back(std::as_bytes(std::span(data_)));
  input.bytes = static_cast<int64_t>(data_.size() * sizeof(int64_t));
  bytes = input.bytes;
  inputs.push_back(std::move(input));
}

void TestTask::Complete(TaskResult result) {
  absl::MutexLock lock(&mu_);
  ++completions_;
  result_ = std::move(result);
}

TestTask& TestTask::Timeout(absl::Duration timeout, absl::Time now) {
  arrival = now;
  timeout_us = absl::ToInt64Microseconds(timeout);
  queue_limit = now + timeout;
  return *this;
}

TestTask& TestTask::Deadline(absl::Time at) {
  deadline = at;
  return *this;
}

TestTask& TestTask::Priority(uint64_t level) {
  priority = level;
  return *this;
}

TestTask& TestTask::Variant(int64_t n) {
  variant = {n};
  return *this;
}

absl::Status TestTask::Await() {
  struct Done {
    const int* completions;
    bool Eval() const { return *completions > 0; }
  } done{&completions_};
  absl::MutexLock lock(&mu_, absl::Condition(&done, &Done::Eval));
  return result_.status;
}

bool TestTask::done() const {
  absl::MutexLock lock(&mu_);
  return completions_ > 0;
}

int TestTask::completions() const {
  absl::MutexLock lock(&mu_);
  return completions_;
}

StageTimes TestTask::times() const {
  absl::MutexLock lock(&mu_);
  return result_.times;
}

std::vector<int64_t> TestTask::rows_answered() const {
  absl::MutexLock lock(&mu_);
  if (!result_.output) return {};
  const std::span<const std::byte> bytes_of = result_.output.bytes(0);
  const auto count = static_cast<size_t>(result_.output.rows());
  std::vector<int64_t> values(count);
  for (size_t row = 0; row < count; ++row) {
    std::memcpy(&values[row], bytes_of.data() + row * bytes_of.size() / count,
                sizeof(int64_t));
  }
  return values;
}

bool TestTask::may_hold_slot() const {
  absl::MutexLock lock(&mu_);
  return result_.output && result_.output.may_hold_slot();
}

void TestTask::DropOutput() {
  BatchOutput output;
  {
    absl::MutexLock lock(&mu_);
    output = std::move(result_.output);
  }
}

Signature TestSignature(int max_batch, int64_t n) {
  const auto tensor = [n](const char* name) {
    TensorSpec spec;
    spec.name.assign(1, *name);
    spec.dtype = DType::kInt64;
    spec.dims = {n};
    spec.symbols.emplace_back(n == kFreeDim ? 1 : 0, 'n');
    return spec;
  };
  Signature signature;
  signature.batched = true;
  signature.max_batch = max_batch;
  signature.inputs.push_back(tensor("x"));
  signature.outputs.push_back(tensor("y"));
  if (n == kFreeDim) signature.free_symbols.emplace_back("n");
  return signature;
}

ModelConfig TestConfig(std::vector<int> ladder) {
  ModelConfig config;
  config.batch.dynamic_batching = true;
  config.ladder = std::move(ladder);
  return config;
}

TestModel::TestModel(uint64_t uid, ModelConfig config, Signature signature,
                     std::string name)
    : version_(uid, std::move(name), 1, std::move(config),
               std::move(signature)) {}

ServedModel TestModel::Make(FakeDevice& fake,
                            const std::vector<VariantKey>& keys) {
  ServedModel served;
  served.model = &version_;
  served.loaded = fake.Load(version_.signature());
  for (const VariantKey& key : keys) {
    ServedModel::Variant variant;
    variant.key = key;
    for (int lane = 0; lane < version_.config().instances; ++lane) {
      auto made = served.loaded->Prepare(key, version_.config().ladder, lane);
      EXPECT_TRUE(made.ok()) << made.status();
      variant.lanes.push_back(*std::move(made));
    }
    served.variants.push_back(std::move(variant));
  }
  return served;
}

std::unique_ptr<DeviceWorker> WorkerFixture::MakeWorker(
    FakeDevice& fake, const WorkerOptions& options) {
  auto worker =
      DeviceWorker::Create(fake.factory(), options, clock_, registry_);
  EXPECT_TRUE(worker.ok()) << worker.status();
  return *std::move(worker);
}

void WorkerFixture::Serve(std::unique_ptr<TestModel> model,
                          FakeDeviceOptions options,
                          const std::vector<VariantKey>& keys,
                          const WorkerOptions& worker) {
  fake_ = std::make_unique<FakeDevice>(clock_, std::move(options));
  model_ = std::move(model);
  worker_ = MakeWorker(*fake_, worker);
  worker_->Add(model_->Make(*fake_, keys));
}

TestTask& WorkerFixture::Offer(int64_t tag, int rows) {
  TestTask& task = tasks_.emplace_back(tag, rows);
  const absl::Status status = worker_->Offer(1, task);
  EXPECT_TRUE(status.ok()) << status;
  return task;
}

void WorkerFixture::TearDown() {
  if (worker_ == nullptr) return;
  fake_->FinishAll();
  worker_->Stop(clock_.Now());
  for (TestTask& task : tasks_) task.DropOutput();
  worker_.reset();
}

}  // namespace reprise::testing
