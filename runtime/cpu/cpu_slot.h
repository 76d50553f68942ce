// Slots of the CPU device and the pool that lends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/cpu/program.h"
#include "runtime/device/executable.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/signature.h"

namespace reprise::cpu {

// Where the tensors of one executable lie in a slot.
struct SlotLayout {
  struct Tensor {
    size_t offset = 0;
    size_t bytes = 0;      // of all rows
    size_t row_bytes = 0;  // bytes / rows
  };
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  size_t bytes = 0;
};

// For `rows` rows of a bound signature. INVALID_ARGUMENT on overflow.
absl::StatusOr<SlotLayout> MakeSlotLayout(const Signature& signature, int rows);

class SlotPool;

// What a run leaves behind. Guarded by RunBoard's mutex.
struct RunState {
  bool running = false;
  bool done = false;
  absl::Status status;
  RunTimes times;
};

// One set of buffers, seen through the layout of the executable that has
// borrowed it.
class CpuSlot final : public Slot {
 public:
  explicit CpuSlot(SlotPool* pool) : pool_(pool) {}

  std::span<std::byte> input(int k) override;
  std::span<const std::byte> output(int k) const override;
  void Release() override;

  // Room for at least `layout`; does nothing if there is. Allocates otherwise.
  void Grow(const SlotLayout& layout);
  // Points the tensors to where `layout` has them; Grow has been called.
  void Use(const SlotLayout& layout);

  SlotBuffers buffers() { return {inputs_, outputs_}; }
  const SlotLayout& layout() const { return *layout_; }

  RunState run;   // see RunState
  int rung = -1;  // that the run of this slot is of

 private:
  SlotPool* const pool_;  // null: not of a pool
  AlignedBuffer buffer_;
  const SlotLayout* layout_ = nullptr;
  std::vector<std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

// Slots for all executables of a device. They are as large as the largest
// layout that was ever asked for; one that is in use while that grows is grown
// when it is lent the next time.
//
// Threads: any.
class SlotPool {
 public:
  void Add(int count) ABSL_LOCKS_EXCLUDED(mu_);
  // From now on slots have room for `layout`.
  void Require(const SlotLayout& layout) ABSL_LOCKS_EXCLUDED(mu_);

  // Null when all are in use. `layout` must outlive the use.
  CpuSlot* Acquire(const SlotLayout& layout) ABSL_LOCKS_EXCLUDED(mu_);
  void Release(CpuSlot* slot) ABSL_LOCKS_EXCLUDED(mu_);

  int size() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  std::vector<std::unique_ptr<CpuSlot>> slots_ ABSL_GUARDED_BY(mu_);
  std::vector<CpuSlot*> free_ ABSL_GUARDED_BY(mu_);
  SlotLayout largest_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise::cpu
