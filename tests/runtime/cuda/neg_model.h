// The CUDA device over the fake driver with one model: y = -x, rows of four
// floats. Its kernel is the test's.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/device/device.h"
#include "runtime/device/device_observer.h"
#include "runtime/graph/graph.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_cuda.h"

namespace reprise::cuda {

// Keeps count of what a device tells.
class CountedRuns final : public DeviceObserver {
 public:
  void Ran(RunKind kind) override { ++runs[static_cast<size_t>(kind)]; }
  void Captured(absl::Duration /*took*/) override { ++captured; }
  void LeftOut() override { ++left_out; }
  void Stepped(LoadStep /*step*/, absl::Duration /*took*/) override {}

  int of(RunKind kind) const { return runs[static_cast<size_t>(kind)]; }

  std::array<int, kRunKinds> runs = {};
  int captured = 0;
  int left_out = 0;
};

class NegModel {
 public:
  static constexpr size_t kRow = 4;
  static constexpr char kKernel[] = "reprise_neg_f32";

  // Negates, unless `kernel` does something else with x and y.
  using Kernel = std::function<void(const float* x, float* y, size_t count)>;
  explicit NegModel(Kernel kernel = nullptr);

  // Makes the device and loads the model; once.
  absl::StatusOr<LoadedModel*> Load(CudaDeviceOptions options = {});
  // Of lane 0.
  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const std::vector<int>& ladder);

  // One row through `executable`: its answer.
  absl::StatusOr<std::vector<float>> Run(Executable& executable,
                                         const std::vector<float>& row);

  testing::FakeClock clock;
  testing::FakeCuda cuda;
  CountedRuns observer;
  std::unique_ptr<Device> device;
  std::unique_ptr<LoadedModel> model;
};

// The same graph, for other devices.
std::shared_ptr<const graph::Graph> NegGraph();
Signature NegSignature();

}  // namespace reprise::cuda
