#include "runtime/prepare/slot_pool.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "runtime/base/status_macros.h"

namespace reprise {

SlotHold::~SlotHold() {
  if (pool_ != nullptr) pool_->Release(id_);
}

absl::Status SlotPool::Add(int count) {
  std::vector<std::unique_ptr<HostSlot>> fresh;
  fresh.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    fresh.push_back(absl::WrapUnique(new HostSlot(this)));
  }
  SlotLayout largest;
  while (true) {
    for (const auto& slot : fresh) {
      REPRISE_RETURN_IF_ERROR(slot->Grow(largest, allocate_));
    }
    absl::MutexLock lock(&mu_);
    const bool room = fresh.empty() || fresh[0]->storage_.Holds(largest_);
    largest = largest_;
    if (!room) continue;
    free_.reserve(slots_.size() + fresh.size());
    for (auto& slot : fresh) {
      slot->index_ = static_cast<int>(slots_.size());
      free_.push_back(slot.get());
      slots_.push_back(std::move(slot));
    }
    return absl::OkStatus();
  }
}

absl::StatusOr<SlotHold> SlotPool::Require(const SlotLayout& layout) {
  int64_t id = 0;
  {
    absl::MutexLock lock(&mu_);
    id = next_hold_++;
    holds_.emplace(id, layout);
    FindLargest();
  }
  SlotHold hold(this, id);
  REPRISE_RETURN_IF_ERROR(Grow());
  return hold;
}

void SlotPool::Release(int64_t hold) {
  absl::MutexLock lock(&mu_);
  holds_.erase(hold);
  FindLargest();
  for (const auto& slot : slots_) {
    if (slot->next_.has_value()) slot->next_->Trim(largest_.bytes);
    if (IsFree(*slot)) slot->storage_.Trim(largest_.bytes);
  }
}

// One after the other: no more is held at once than has to be, and nobody waits
// for the pool while memory is taken or given back.
absl::Status SlotPool::Grow() {
  while (true) {
    SlotLayout largest;
    {
      absl::MutexLock lock(&mu_);
      if (TooSmall() == nullptr) return absl::OkStatus();
      largest = largest_;
    }
    std::optional<SlotStorage> storage;
    REPRISE_ASSIGN_OR_RETURN(storage, SlotStorage::Create(largest, allocate_));
    absl::MutexLock lock(&mu_);
    HostSlot* const slot = TooSmall();
    if (slot == nullptr) return absl::OkStatus();
    if (!storage->Holds(largest_)) continue;  // grown meanwhile
    if (IsFree(*slot)) {
      std::swap(slot->storage_, *storage);
    } else {
      std::swap(slot->next_, storage);
    }
  }
}

void SlotPool::FindLargest() {
  SlotLayout largest;
  for (const auto& [id, layout] : holds_) {
    largest.bytes = std::max(largest.bytes, layout.bytes);
    largest.inputs.resize(
        std::max(largest.inputs.size(), layout.inputs.size()));
    largest.outputs.resize(
        std::max(largest.outputs.size(), layout.outputs.size()));
  }
  largest_ = std::move(largest);
}

int64_t SlotPool::BytesToGrow(const SlotLayout& layout) const {
  absl::MutexLock lock(&mu_);
  size_t bytes = 0;
  for (const auto& slot : slots_) {
    const size_t has = slot->newest().bytes();
    if (has >= layout.bytes) continue;
    // One that is in use keeps what it has until it is given back.
    bytes += IsFree(*slot) ? layout.bytes - has : layout.bytes;
  }
  return static_cast<int64_t>(bytes);
}

HostSlot* SlotPool::Acquire(const SlotLayout& layout) {
  HostSlot* slot = nullptr;
  {
    absl::MutexLock lock(&mu_);
    if (free_.empty()) return nullptr;
    slot = free_.back();
    free_.pop_back();
  }
  slot->Use(layout);
  return slot;
}

void SlotPool::Release(HostSlot* slot) {
  std::optional<SlotStorage> old;  // goes when the lock has gone
  absl::MutexLock lock(&mu_);
  if (slot->next_.has_value()) {
    std::swap(slot->storage_, *slot->next_);
    std::swap(slot->next_, old);
  }
  slot->storage_.Trim(largest_.bytes);
  free_.push_back(slot);
}

int64_t SlotPool::bytes() const {
  absl::MutexLock lock(&mu_);
  size_t bytes = 0;
  for (const auto& slot : slots_) {
    bytes += slot->storage_.bytes();
    if (slot->next_.has_value()) bytes += slot->next_->bytes();
  }
  return static_cast<int64_t>(bytes);
}

int SlotPool::size() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(slots_.size());
}

int SlotPool::free() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(free_.size());
}

bool SlotPool::IsFree(const HostSlot& slot) const {
  return std::find(free_.begin(), free_.end(), &slot) != free_.end();
}

HostSlot* SlotPool::TooSmall() const {
  for (const auto& slot : slots_) {
    if (!slot->newest().Holds(largest_)) return slot.get();
  }
  return nullptr;
}

}  // namespace reprise
