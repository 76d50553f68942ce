// A network of weights, products and generated code, loaded beside another one
// on the CUDA device over a fake driver, when one call of the driver fails.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "runtime/device/fault.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/infer_signature.h"
#include "tests/runtime/cuda/emulation/emulated_device.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::conformance {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::FakeCuda;
using ::reprise::testing::FakeCudaCounts;
using ::reprise::testing::IsOk;
using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::OnnxBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Loaded {
  std::unique_ptr<LoadedModel> model;
  std::unique_ptr<Executable> executable;
};

absl::StatusOr<Loaded> Load(Device& device, const OnnxBuilder& model) {
  REPRISE_ASSIGN_OR_RETURN(graph::Graph graph,
                           onnx_import::ImportModel(model.Bytes(), {}));
  REPRISE_ASSIGN_OR_RETURN(ops::InferredSignature inferred,
                           ops::InferSignature(graph, {}));
  inferred.signature.max_batch = 2;
  Loaded loaded;
  REPRISE_ASSIGN_OR_RETURN(
      loaded.model,
      device.Load(std::make_shared<graph::Graph>(std::move(graph)),
                  inferred.signature, {.model = "faulty/1"}));
  REPRISE_ASSIGN_OR_RETURN(loaded.executable,
                           loaded.model->Prepare({}, {2}, /*lane=*/0));
  return loaded;
}

// Two rows of two numbers: what becomes of them.
absl::StatusOr<std::vector<float>> Answer(const Loaded& loaded) {
  Executable& executable = *loaded.executable;
  const SlotLease slot = executable.AcquireSlot();
  if (!slot) return absl::ResourceExhaustedError("no slot");
  const std::vector<float> rows = {1, 2, 3, -4};
  std::memcpy(slot->input(0).data(), rows.data(), rows.size() * sizeof(float));
  REPRISE_RETURN_IF_ERROR(executable.Submit(*slot, 2));
  REPRISE_RETURN_IF_ERROR(
      executable.Wait(*slot, absl::InfiniteFuture()).status());
  std::vector<float> answer(rows.size());
  std::memcpy(answer.data(), slot->output(0).data(),
              answer.size() * sizeof(float));
  return answer;
}

// Two layers with something elementwise between them.
OnnxBuilder Layers() {
  OnnxBuilder model(13);
  model.Input("x", {"N", 2})
      .Floats("w", {2, 3}, {1, 0, 1, 0, 1, 1})
      .Floats("b", {3}, {0, 1, 0})
      .Floats("v", {3, 2}, {1, 0, 0, 1, 1, 1})
      .Node("MatMul", {"x", "w"}, {"f"})
      .Node("Add", {"f", "b"}, {"g"})
      .Node("Relu", {"g"}, {"h"})
      .Node("Mul", {"h", "h"}, {"i"})
      .Node("Sub", {"i", "h"}, {"j"})
      .Node("MatMul", {"j", "v"}, {"y"})
      .Output("y", {"N", 2});
  return model;
}
// Of the rows g is {1, 3, 3} and {3, -3, -1}, and j {0, 6, 6} and {6, 0, 0}.
auto OfLayers() { return ElementsAre(6, 12, 6, 0); }

class EmulatedFaultsTest : public ::testing::TestWithParam<CUresult> {
 protected:
  void SetUp() override {
    auto device = emulation::MakeEmulatedDevice(clock_);
    ASSERT_THAT(device, IsOk());
    device_ = *std::move(device);
    // What lasts as long as the device is made here.
    auto served = Load(*device_, Layers());
    ASSERT_THAT(served, IsOk());
    served_ = *std::move(served);
  }
  int CallsOfLoad() {
    const int before = FakeCuda::Current().calls();
    const auto loaded = Load(*device_, Layers());
    EXPECT_THAT(loaded, IsOk());
    return FakeCuda::Current().calls() - before;
  }
  // Of a load that failed, as GetParam() says.
  static void ExpectClass(const absl::Status& status, int n) {
    const bool fatal = GetParam() == CUDA_ERROR_ILLEGAL_ADDRESS;
    EXPECT_EQ(IsDeviceFault(status), fatal) << n << " " << status;
    EXPECT_EQ(absl::IsResourceExhausted(status), !fatal) << n << " " << status;
  }

  FakeClock clock_;  // stands, so that every load makes as many calls
  std::unique_ptr<Device> device_;
  Loaded served_;
};

// The fake driver fails once, and so with a fatal error too.
TEST_P(EmulatedFaultsTest, WhicheverCallFailsTheOtherModelServesOn) {
  const int calls = CallsOfLoad();
  ASSERT_GT(calls, 100);
  FakeCuda& cuda = FakeCuda::Current();
  const FakeCudaCounts before = cuda.live();
  int refused = 0;
  for (int n = 1; n <= calls; ++n) {
    cuda.FailCall(n, GetParam());
    auto loaded = Load(*device_, Layers());
    if (loaded.ok()) {
      EXPECT_THAT(Answer(*loaded), IsOkAndHolds(OfLayers())) << "call " << n;
    } else {
      ++refused;
      ExpectClass(loaded.status(), n);
    }
    loaded = absl::CancelledError("");
    // Page-locked memory is given back when the next load wants some.
    FakeCudaCounts after = cuda.live();
    EXPECT_LE(after.pinned_allocations, before.pinned_allocations) << n;
    after.pinned_allocations = before.pinned_allocations;
    EXPECT_EQ(after, before) << "call " << n;
    EXPECT_THAT(Answer(served_), IsOkAndHolds(OfLayers())) << "call " << n;
  }
  EXPECT_GT(refused, calls * 3 / 4);
  EXPECT_EQ(CallsOfLoad(), calls);
  EXPECT_THAT(cuda.misuses(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(EmulatedCuda, EmulatedFaultsTest,
                         ::testing::Values(CUDA_ERROR_OUT_OF_MEMORY,
                                           CUDA_ERROR_ILLEGAL_ADDRESS),
                         [](const auto& tested) {
                           return tested.param == CUDA_ERROR_OUT_OF_MEMORY
                                      ? "OutOfMemory"
                                      : "IllegalAddress";
                         });

}  // namespace
}  // namespace reprise::conformance
