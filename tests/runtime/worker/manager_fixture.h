// A repository, a worker on a fake device, and a manager over both.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/model/registry.h"
#include "runtime/worker/device_worker.h"
#include "runtime/worker/model_manager.h"
#include "tests/runtime/model/temp_dir.h"
#include "tests/runtime/model/tiny_models.h"
#include "tests/testing/fake_device.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {

// One row of four floats; a test waits for its answer.
class RowTask final : public InferTask {
 public:
  explicit RowTask(size_t floats = 4) : data_(floats, 1.0F) {
    bytes = static_cast<int64_t>(floats * sizeof(float));
    InputRows input;
    input.pieces.push_back(std::as_bytes(std::span<const float>(data_)));
    input.bytes = bytes;
    inputs.push_back(std::move(input));
    arrival = RealClock::Get().Now();
  }

  void Complete(TaskResult result) override ABSL_LOCKS_EXCLUDED(mu_) {
    result.output.Reset();
    absl::MutexLock lock(&mu_);
    status_ = std::move(result.status);
    done_ = true;
  }
  absl::Status Await() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&done_));
    return status_;
  }

 private:
  std::vector<float> data_;
  absl::Mutex mu_;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

// "m/1 READY", and the reason if there is one.
inline std::vector<std::string> Lines(const std::vector<IndexEntry>& index) {
  std::vector<std::string> lines;
  for (const IndexEntry& entry : index) {
    lines.push_back(entry.name + "/" + entry.version + " " +
                    std::string(StateName(entry.state)) +
                    (entry.reason.empty() ? "" : ": " + entry.reason));
  }
  return lines;
}

class ManagerFixture : public ::testing::Test {
 protected:
  explicit ManagerFixture(Clock& clock = RealClock::Get(),
                          FakeDeviceOptions device = {})
      : clock_(clock), fake_(clock, std::move(device)) {
    options_.repositories = {repo_.path()};
    options_.mode = ControlMode::kExplicit;
    auto worker =
        DeviceWorker::Create(fake_.factory(), WorkerOptions(), clock, metrics_);
    EXPECT_THAT(worker, IsOk());
    worker_ = *std::move(worker);
  }

  // `model` with a version 1 that copies x [N, 4] to y.
  void WriteModel(const std::string& model, const std::string& config = "") {
    repo_.Write(model + "/1/model.onnx", ReluModel());
    if (!config.empty()) repo_.Write(model + "/config.pbtxt", config);
  }

  ModelManager& Start() {
    auto manager = ModelManager::Create(options_, {worker_.get()}, registry_,
                                        clock_, metrics_);
    EXPECT_THAT(manager, IsOk());
    manager_ = *std::move(manager);
    start_status_ = manager_->LoadAtStart();
    return *manager_;
  }

  // One request to a model, answered.
  absl::Status Infer(const std::string& model,
                     const std::string& version = "") {
    auto handle = registry_.Acquire(model, version);
    if (!handle.ok()) return handle.status();
    RowTask task;
    absl::Status status = manager_->Offer(**handle, task);
    return status.ok() ? task.Await() : status;
  }

  // Of the version that serves; -1 if none does.
  int MaxBatch(const std::string& model) {
    const auto handle = registry_.Acquire(model, "");
    return handle.ok() ? (*handle)->config().proto.max_batch_size() : -1;
  }

  double Gauge(const std::string& name, const std::string& model,
               const std::string& version) {
    for (const auto& family : metrics_.Collect()) {
      if (family.name != name) continue;
      for (const auto& metric : family.metric) {
        const bool of_model = metric.label[0].value == model;
        if (of_model && metric.label[1].value == version) {
          return metric.gauge.value;
        }
      }
    }
    return -1;
  }

  Clock& clock_;
  TempDir repo_;
  prometheus::Registry metrics_;
  FakeDevice fake_;
  ModelRegistry registry_;
  std::unique_ptr<DeviceWorker> worker_;
  ModelManagerOptions options_;
  std::unique_ptr<ModelManager> manager_;
  absl::Status start_status_;
};

}  // namespace reprise::testing
