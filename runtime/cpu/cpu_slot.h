// Slots of the CPU device and the pool that lends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
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

// The tensors of a slot and their addresses: all that a slot needs memory for.
class SlotStorage {
 public:
  SlotStorage() = default;
  // RESOURCE_EXHAUSTED as AlignedBuffer::Create.
  static absl::StatusOr<SlotStorage> Create(const SlotLayout& layout);

  bool Holds(const SlotLayout& layout) const;
  size_t bytes() const { return bytes_; }
  // Gives back the pages beyond the first `bytes`, which it has. No reader or
  // writer uses them.
  void Trim(size_t bytes);

  // Points the tensors to where `layout` has them; the storage holds it.
  void Use(const SlotLayout& layout);
  std::span<std::byte* const> inputs() const { return inputs_; }
  std::span<std::byte* const> outputs() const { return outputs_; }

 private:
  AlignedBuffer buffer_;
  size_t bytes_ = 0;  // of the buffer's: those that were not given back
  size_t max_inputs_ = 0;
  size_t max_outputs_ = 0;
  std::vector<std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

// One set of buffers, seen through the layout of the executable that has
// borrowed it.
class CpuSlot final : public Slot {
 public:
  explicit CpuSlot(SlotPool* pool) : pool_(pool) {}

  std::span<std::byte> input(int k) override;
  std::span<const std::byte> output(int k) const override;
  void Release() override;

  // Room for at least `layout`, now: for a slot that nobody else sees.
  // RESOURCE_EXHAUSTED as AlignedBuffer::Create.
  absl::Status Grow(const SlotLayout& layout);
  // Grow has been called, or the pool has made room.
  void Use(const SlotLayout& layout);

  SlotBuffers buffers() { return {storage_.inputs(), storage_.outputs()}; }
  const SlotLayout& layout() const { return *layout_; }

  RunState run;   // see RunState
  int rung = -1;  // that the run of this slot is of

 private:
  friend class SlotPool;

  const SlotStorage& newest() const { return next_ ? *next_ : storage_; }

  SlotPool* const pool_;  // null: not of a pool
  const SlotLayout* layout_ = nullptr;
  SlotStorage storage_;
  // Larger storage, for when the slot is given back. Guarded by the pool.
  std::optional<SlotStorage> next_;
};

// Somebody needs slots of a pool to have room for a layout for as long as this
// is there.
class SlotHold {
 public:
  SlotHold() = default;
  SlotHold(SlotHold&& other) noexcept { *this = std::move(other); }
  SlotHold& operator=(SlotHold&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~SlotHold();

 private:
  friend class SlotPool;
  SlotHold(SlotPool* pool, int64_t id) : pool_(pool), id_(id) {}

  SlotPool* pool_ = nullptr;
  int64_t id_ = 0;
};

// Slots for all executables of a device. They are as large as the largest
// layout that one of them needs. What that takes is allocated when a model is
// loaded, never when a slot is lent: for a slot that is in use it lies ready
// until the slot is given back. When a model goes, what nobody else needs is
// given back, without an allocation; a slot in use gives it back when its use
// ends.
//
// Threads: any; Add and Require belong on a loader's.
class SlotPool {
 public:
  // RESOURCE_EXHAUSTED if there is no memory for them: nothing has happened.
  absl::Status Add(int count) ABSL_LOCKS_EXCLUDED(mu_);
  // Slots that are lent while the hold is there have room for `layout`. The
  // hold goes before the pool. RESOURCE_EXHAUSTED as Add.
  absl::StatusOr<SlotHold> Require(const SlotLayout& layout)
      ABSL_LOCKS_EXCLUDED(mu_);
  // What Require would take.
  int64_t BytesToGrow(const SlotLayout& layout) const ABSL_LOCKS_EXCLUDED(mu_);

  // Null when all are in use. `layout` has been required, and must outlive the
  // use.
  CpuSlot* Acquire(const SlotLayout& layout) ABSL_LOCKS_EXCLUDED(mu_);
  void Release(CpuSlot* slot) ABSL_LOCKS_EXCLUDED(mu_);

  int size() const ABSL_LOCKS_EXCLUDED(mu_);
  int free() const ABSL_LOCKS_EXCLUDED(mu_);
  // Held by all slots, and ready for those in use.
  int64_t bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class SlotHold;

  void Release(int64_t hold) ABSL_LOCKS_EXCLUDED(mu_);
  // Makes every slot as large as the holds need.
  absl::Status Grow() ABSL_LOCKS_EXCLUDED(mu_);
  bool IsFree(const CpuSlot& slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // One that is smaller than the holds need; null: there is none.
  CpuSlot* TooSmall() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FindLargest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable absl::Mutex mu_;
  std::vector<std::unique_ptr<CpuSlot>> slots_ ABSL_GUARDED_BY(mu_);
  std::vector<CpuSlot*> free_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, SlotLayout> holds_ ABSL_GUARDED_BY(mu_);
  int64_t next_hold_ ABSL_GUARDED_BY(mu_) = 1;
  // Bytes, and numbers of tensors: what the holds need at most.
  SlotLayout largest_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise::cpu
