// A plan together with the kernels of its steps, and a way to run it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/cpu/kernel.h"
#include "runtime/plan/plan.h"
#include "runtime/prepare/slot_layout.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::cpu {

// What lowering makes of one rung. `constants` is indexed by the `index` of the
// plan's constant buffers; they are owned by the model's Weights, or `owned`.
struct Program {
  plan::Plan plan;
  std::vector<Kernel> kernels;  // one for each step of the plan
  std::vector<const std::byte*> constants;
  // Constants that the model's graph may not hold: known for this rung alone.
  std::vector<std::shared_ptr<const HostTensor>> owned;
  int threads = 1;   // what the kernels were made for
  int64_t work = 0;  // of a run, as EstimateWork has it
};

// Runs a program over an arena. All addresses but the slot's are looked up when
// it is made, so that a run only fills those in.
//
// Threads: one run at a time, on any thread.
class Runner {
 public:
  // `arena` is aligned to 64 bytes, has plan.arena_bytes, and outlives this.
  Runner(Program program, std::byte* arena);

  // INTERNAL if a kernel's library failed, with the step.
  absl::Status Run(const SlotBuffers& slot);
  // The same, but asks after each step whether to stop: ABORTED names the step
  // that was done last.
  absl::Status RunUntil(const SlotBuffers& slot,
                        absl::FunctionRef<bool()> stop);

  // From now on it runs over `arena`, which is as the constructor's.
  void MoveTo(std::byte* arena);

  const Program& program() const { return program_; }

 private:
  struct Step {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    std::byte* scratch = nullptr;
  };
  // An operand that lies in the slot.
  struct Patch {
    size_t step = 0;
    size_t operand = 0;
    bool write = false;
    bool slot_input = false;
    int index = 0;
  };

  absl::Status RunSteps(const SlotBuffers& slot,
                        const absl::FunctionRef<bool()>* stop);
  std::string StepText(size_t i) const;
  void Place(size_t step, size_t operand, bool write, plan::BufferId id,
             std::byte* arena);

  Program program_;
  std::vector<Step> steps_;
  std::vector<Patch> patches_;
};

}  // namespace reprise::cpu
