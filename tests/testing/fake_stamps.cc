#include "tests/testing/fake_stamps.h"

#include "runtime/cuda/kernels/params.h"

namespace reprise::testing {
namespace {

constexpr size_t kPointer = sizeof(CUdeviceptr);

void Begin(const FakeKernelCall& call) {
  auto* const state = call.Pointer<kernels::StampState>(0, 1);
  if (state != nullptr) state->begun = call.nanoseconds();
}

void End(const FakeKernelCall& call) {
  auto* const state = call.Pointer<kernels::StampState>(0, 1);
  auto* const ring = call.Pointer<kernels::Stamp>(1, kernels::kStampRing);
  if (state == nullptr || ring == nullptr) return;
  ring[state->replays % kernels::kStampRing] = {.replay = state->replays,
                                                .begun = state->begun,
                                                .ended = call.nanoseconds()};
  ++state->replays;
}

}  // namespace

void AddStampKernels(FakeCuda& cuda) {
  cuda.AddKernel("reprise_stamp_begin", {kPointer}, Begin);
  cuda.AddKernel("reprise_stamp_end", {kPointer, kPointer}, End);
  cuda.SetKernelTime("reprise_stamp_begin", absl::ZeroDuration());
  cuda.SetKernelTime("reprise_stamp_end", absl::ZeroDuration());
}

}  // namespace reprise::testing
