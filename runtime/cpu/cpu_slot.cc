#include "runtime/cpu/cpu_slot.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/base/status_macros.h"
#include "runtime/tensor/shape.h"

namespace reprise::cpu {
namespace {

constexpr size_t kAlignment = 64;

absl::Status Lay(const std::vector<TensorSpec>& specs, int rows,
                 std::vector<SlotLayout::Tensor>& tensors, size_t& end) {
  for (const TensorSpec& spec : specs) {
    REPRISE_ASSIGN_OR_RETURN(const int64_t row,
                             NumBytes(spec.dtype, spec.dims));
    const int64_t sizes[] = {row, rows};
    REPRISE_ASSIGN_OR_RETURN(const int64_t bytes, NumElements(sizes));
    SlotLayout::Tensor tensor;
    tensor.offset = end;
    tensor.bytes = static_cast<size_t>(bytes);
    tensor.row_bytes = static_cast<size_t>(row);
    end += (tensor.bytes + kAlignment - 1) / kAlignment * kAlignment;
    tensors.push_back(tensor);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SlotLayout> MakeSlotLayout(const Signature& signature,
                                          int rows) {
  SlotLayout layout;
  REPRISE_RETURN_IF_ERROR(
      Lay(signature.inputs, rows, layout.inputs, layout.bytes));
  REPRISE_RETURN_IF_ERROR(
      Lay(signature.outputs, rows, layout.outputs, layout.bytes));
  return layout;
}

absl::StatusOr<SlotStorage> SlotStorage::Create(const SlotLayout& layout) {
  SlotStorage storage;
  REPRISE_ASSIGN_OR_RETURN(storage.buffer_,
                           AlignedBuffer::Create(layout.bytes));
  storage.bytes_ = layout.bytes;
  storage.max_inputs_ = layout.inputs.size();
  storage.max_outputs_ = layout.outputs.size();
  storage.inputs_.reserve(storage.max_inputs_);
  storage.outputs_.reserve(storage.max_outputs_);
  return storage;
}

bool SlotStorage::Holds(const SlotLayout& layout) const {
  return bytes_ >= layout.bytes && max_inputs_ >= layout.inputs.size() &&
         max_outputs_ >= layout.outputs.size();
}

void SlotStorage::Trim(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(buffer_.data());
  const uintptr_t first = (begin + bytes + page - 1) / page * page;
  const uintptr_t last = (begin + bytes_) / page * page;
  bytes_ = bytes;
  if (first >= last) return;
  // Whole pages of this buffer's alone; the heap gets them back empty.
  madvise(buffer_.data() + (first - begin), last - first, MADV_DONTNEED);
}

void SlotStorage::Use(const SlotLayout& layout) {
  inputs_.clear();
  outputs_.clear();
  for (const SlotLayout::Tensor& tensor : layout.inputs) {
    inputs_.push_back(buffer_.data() + tensor.offset);
  }
  for (const SlotLayout::Tensor& tensor : layout.outputs) {
    outputs_.push_back(buffer_.data() + tensor.offset);
  }
}

std::span<std::byte> CpuSlot::input(int k) {
  return {storage_.inputs()[k], layout_->inputs[k].bytes};
}

std::span<const std::byte> CpuSlot::output(int k) const {
  return {storage_.outputs()[k], layout_->outputs[k].bytes};
}

void CpuSlot::Release() {
  if (pool_ != nullptr) pool_->Release(this);
}

absl::Status CpuSlot::Grow(const SlotLayout& layout) {
  if (storage_.Holds(layout)) return absl::OkStatus();
  REPRISE_ASSIGN_OR_RETURN(storage_, SlotStorage::Create(layout));
  return absl::OkStatus();
}

void CpuSlot::Use(const SlotLayout& layout) {
  layout_ = &layout;
  storage_.Use(layout);
}

SlotHold::~SlotHold() {
  if (pool_ != nullptr) pool_->Release(id_);
}

absl::Status SlotPool::Add(int count) {
  std::vector<std::unique_ptr<CpuSlot>> fresh;
  fresh.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    fresh.push_back(std::make_unique<CpuSlot>(this));
  }
  SlotLayout largest;
  while (true) {
    for (const auto& slot : fresh) {
      REPRISE_RETURN_IF_ERROR(slot->Grow(largest));
    }
    absl::MutexLock lock(&mu_);
    const bool room = fresh.empty() || fresh[0]->storage_.Holds(largest_);
    largest = largest_;
    if (!room) continue;
    free_.reserve(slots_.size() + fresh.size());
    for (auto& slot : fresh) {
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
    if (slot->next_.has_value() && slot->next_->bytes() > largest_.bytes) {
      slot->next_->Trim(largest_.bytes);
    }
    if (slot->storage_.bytes() > largest_.bytes && IsFree(*slot)) {
      slot->storage_.Trim(largest_.bytes);
    }
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
    REPRISE_ASSIGN_OR_RETURN(storage, SlotStorage::Create(largest));
    absl::MutexLock lock(&mu_);
    CpuSlot* const slot = TooSmall();
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

CpuSlot* SlotPool::Acquire(const SlotLayout& layout) {
  CpuSlot* slot = nullptr;
  {
    absl::MutexLock lock(&mu_);
    if (free_.empty()) return nullptr;
    slot = free_.back();
    free_.pop_back();
  }
  slot->Use(layout);
  return slot;
}

void SlotPool::Release(CpuSlot* slot) {
  std::optional<SlotStorage> old;  // goes when the lock has gone
  absl::MutexLock lock(&mu_);
  if (slot->next_.has_value()) {
    std::swap(slot->storage_, *slot->next_);
    std::swap(slot->next_, old);
  }
  if (slot->storage_.bytes() > largest_.bytes) {
    slot->storage_.Trim(largest_.bytes);
  }
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

bool SlotPool::IsFree(const CpuSlot& slot) const {
  return std::find(free_.begin(), free_.end(), &slot) != free_.end();
}

CpuSlot* SlotPool::TooSmall() const {
  for (const auto& slot : slots_) {
    if (!slot->newest().Holds(largest_)) return slot.get();
  }
  return nullptr;
}

}  // namespace reprise::cpu
