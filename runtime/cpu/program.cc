#include "runtime/cpu/program.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/cpu/onednn.h"

namespace reprise::cpu {

Runner::Runner(Program program, std::byte* arena)
    : program_(std::move(program)), steps_(program_.plan.steps.size()) {
  MoveTo(arena);
}

void Runner::MoveTo(std::byte* arena) {
  patches_.clear();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const plan::Step& step = program_.plan.steps[i];
    steps_[i].inputs.resize(step.reads.size());
    steps_[i].outputs.resize(step.writes.size());
    if (step.scratch_bytes > 0) steps_[i].scratch = arena + step.scratch_offset;
    for (size_t k = 0; k < step.reads.size(); ++k) {
      Place(i, k, /*write=*/false, step.reads[k], arena);
    }
    for (size_t k = 0; k < step.writes.size(); ++k) {
      Place(i, k, /*write=*/true, step.writes[k], arena);
    }
  }
}

void Runner::Place(size_t step, size_t operand, bool write, plan::BufferId id,
                   std::byte* arena) {
  if (id == plan::kNoBuffer) return;
  const plan::Buffer& buffer =
      program_.plan.buffers[plan::Root(program_.plan, id)];
  switch (buffer.place) {
    case plan::Place::kConstant:
      steps_[step].inputs[operand] = program_.constants[buffer.index];
      return;
    case plan::Place::kArena:
      if (write) {
        steps_[step].outputs[operand] = arena + buffer.offset;
      } else {
        steps_[step].inputs[operand] = arena + buffer.offset;
      }
      return;
    case plan::Place::kInput:
    case plan::Place::kOutput:
      patches_.push_back({step, operand, write,
                          buffer.place == plan::Place::kInput, buffer.index});
      return;
  }
}

absl::Status Runner::Run(const SlotBuffers& slot) {
  return RunSteps(slot, nullptr);
}

absl::Status Runner::RunUntil(const SlotBuffers& slot,
                              absl::FunctionRef<bool()> stop) {
  return RunSteps(slot, &stop);
}

std::string Runner::StepText(size_t i) const {
  const plan::Step& step = program_.plan.steps[i];
  std::string text = absl::StrCat("step ", i, " ", step.name);
  if (!step.writes.empty() && step.writes[0] != plan::kNoBuffer) {
    absl::StrAppend(&text, " that makes '",
                    program_.plan.buffers[step.writes[0]].name, "'");
  }
  return text;
}

absl::Status Runner::RunSteps(const SlotBuffers& slot,
                              const absl::FunctionRef<bool()>* stop) {
  for (const Patch& patch : patches_) {
    std::byte* const address =
        patch.slot_input ? slot.inputs[patch.index] : slot.outputs[patch.index];
    if (patch.write) {
      steps_[patch.step].outputs[patch.operand] = address;
    } else {
      steps_[patch.step].inputs[patch.operand] = address;
    }
  }
  const ThreadsScope threads(program_.threads);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    bool failed = false;
    program_.kernels[i].run({step.inputs, step.outputs, step.scratch, &failed});
    if (failed) {
      return absl::InternalError(
          absl::StrCat(StepText(i), " failed in its library"));
    }
    if (stop != nullptr && (*stop)()) {
      return absl::AbortedError(absl::StrCat("stopped after ", StepText(i)));
    }
  }
  return absl::OkStatus();
}

}  // namespace reprise::cpu
