// What every Device must do, whatever it runs on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "runtime/device/device.h"
#include "tests/testing/onnx_builder.h"

namespace reprise::conformance {

// A device to try. `make` returning UNAVAILABLE skips the suite with its
// reason; any other error fails it.
struct DeviceCase {
  std::string name;
  std::function<absl::StatusOr<std::unique_ptr<Device>>(Clock&)> make;
  // Whether what padding rows come to can be seen in the slot.
  bool shows_padding = true;
};

class DeviceSuite : public ::testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override;

  // Loads `model` and prepares one variant of it; batched models up to the
  // last of `ladder`.
  absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const testing::OnnxBuilder& model, const std::vector<int>& ladder,
      const VariantKey& dims = {}, int lane = 0);

  // Members die in reverse order: executables, models, device.
  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<LoadedModel>> models_;
};

}  // namespace reprise::conformance
