// One set of host buffers for a batch, of whatever memory a device asks for.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/executable.h"
#include "runtime/prepare/slot_layout.h"
#include "runtime/prepare/slot_memory.h"

namespace reprise {

class SlotPool;

// What a run leaves behind, for devices that report runs through the slot. It
// is theirs to guard.
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
  // Fails as `allocate`.
  static absl::StatusOr<SlotStorage> Create(const SlotLayout& layout,
                                            const SlotAllocator& allocate);

  bool Holds(const SlotLayout& layout) const;
  size_t bytes() const { return memory_ == nullptr ? 0 : memory_->bytes(); }
  // As SlotMemory::Trim. No reader or writer uses what lies beyond.
  void Trim(size_t bytes);

  // Points the tensors to where `layout` has them; the storage holds it.
  void Use(const SlotLayout& layout);
  std::span<std::byte* const> inputs() const { return inputs_; }
  std::span<std::byte* const> outputs() const { return outputs_; }

 private:
  std::unique_ptr<SlotMemory> memory_;  // null: none has been needed
  size_t max_inputs_ = 0;
  size_t max_outputs_ = 0;
  std::vector<std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

// A slot, seen through the layout of the executable that has borrowed it.
//
// Lifecycle: lent by a SlotPool; or of nobody's pool, for trial runs: made,
// Grow, Use.
class HostSlot final : public Slot {
 public:
  HostSlot() = default;

  std::span<std::byte> input(int k) override;
  std::span<const std::byte> output(int k) const override;
  void Release() override;

  // Room for at least `layout`, now: for a slot that nobody else sees. Fails as
  // `allocate`.
  absl::Status Grow(const SlotLayout& layout, const SlotAllocator& allocate);
  // Grow has been called, or the pool has made room. The layout outlives the
  // use.
  void Use(const SlotLayout& layout);

  const SlotLayout& layout() const { return *layout_; }
  SlotBuffers buffers() const {
    return {storage_.inputs(), storage_.outputs()};
  }
  std::vector<TensorRows> input_rows() const {
    return RowsOf(layout_->inputs, storage_.inputs());
  }
  std::vector<TensorRows> output_rows() const {
    return RowsOf(layout_->outputs, storage_.outputs());
  }

  // Which one of its pool's it is, from 0: what a device has for each slot can
  // be found by it. -1 without a pool.
  int index() const { return index_; }

  RunState run;   // see RunState
  int rung = -1;  // that the run of this slot is of

 private:
  friend class SlotPool;

  explicit HostSlot(SlotPool* pool) : pool_(pool) {}

  const SlotStorage& newest() const { return next_ ? *next_ : storage_; }

  SlotPool* const pool_ = nullptr;  // null: not of a pool
  int index_ = -1;
  const SlotLayout* layout_ = nullptr;
  SlotStorage storage_;
  // Larger storage, for when the slot is given back. Guarded by the pool.
  std::optional<SlotStorage> next_;
};

}  // namespace reprise
