// The slots of a device, and the pool that lends them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/prepare/host_slot.h"
#include "runtime/prepare/slot_layout.h"
#include "runtime/prepare/slot_memory.h"

namespace reprise {

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
// trimmed, without an allocation; a slot in use is trimmed when its use ends.
//
// Threads: any; Add and Require belong on a loader's.
class SlotPool {
 public:
  explicit SlotPool(SlotAllocator allocate) : allocate_(std::move(allocate)) {}

  // Fails as the allocator; then nothing has happened.
  absl::Status Add(int count) ABSL_LOCKS_EXCLUDED(mu_);
  // Slots that are lent while the hold is there have room for `layout`. The
  // hold goes before the pool. Fails as Add.
  absl::StatusOr<SlotHold> Require(const SlotLayout& layout)
      ABSL_LOCKS_EXCLUDED(mu_);
  // What Require would take.
  int64_t BytesToGrow(const SlotLayout& layout) const ABSL_LOCKS_EXCLUDED(mu_);

  // Null when all are in use. `layout` has been required, and must outlive the
  // use.
  HostSlot* Acquire(const SlotLayout& layout) ABSL_LOCKS_EXCLUDED(mu_);
  void Release(HostSlot* slot) ABSL_LOCKS_EXCLUDED(mu_);

  int size() const ABSL_LOCKS_EXCLUDED(mu_);
  int free() const ABSL_LOCKS_EXCLUDED(mu_);
  // Held by all slots, and ready for those in use.
  int64_t bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class SlotHold;

  void Release(int64_t hold) ABSL_LOCKS_EXCLUDED(mu_);
  // Makes every slot as large as the holds need.
  absl::Status Grow() ABSL_LOCKS_EXCLUDED(mu_);
  bool IsFree(const HostSlot& slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // One that is smaller than the holds need; null: there is none.
  HostSlot* TooSmall() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FindLargest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const SlotAllocator allocate_;

  mutable absl::Mutex mu_;
  std::vector<std::unique_ptr<HostSlot>> slots_ ABSL_GUARDED_BY(mu_);
  std::vector<HostSlot*> free_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, SlotLayout> holds_ ABSL_GUARDED_BY(mu_);
  int64_t next_hold_ ABSL_GUARDED_BY(mu_) = 1;
  // Bytes, and numbers of tensors: what the holds need at most.
  SlotLayout largest_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise
