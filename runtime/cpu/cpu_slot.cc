#include "runtime/cpu/cpu_slot.h"

#include <algorithm>
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

SlotStorage::SlotStorage(const SlotLayout& layout)
    : buffer_(layout.bytes),
      max_inputs_(layout.inputs.size()),
      max_outputs_(layout.outputs.size()) {
  inputs_.reserve(max_inputs_);
  outputs_.reserve(max_outputs_);
}

bool SlotStorage::Holds(const SlotLayout& layout) const {
  return buffer_.size() >= layout.bytes &&
         max_inputs_ >= layout.inputs.size() &&
         max_outputs_ >= layout.outputs.size();
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

void CpuSlot::Grow(const SlotLayout& layout) {
  if (!storage_.Holds(layout)) storage_ = SlotStorage(layout);
}

void CpuSlot::Use(const SlotLayout& layout) {
  layout_ = &layout;
  storage_.Use(layout);
}

void SlotPool::Add(int count) {
  std::vector<std::unique_ptr<CpuSlot>> fresh;
  fresh.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    fresh.push_back(std::make_unique<CpuSlot>(this));
  }
  SlotLayout largest;
  while (true) {
    for (const auto& slot : fresh) slot->Grow(largest);
    absl::MutexLock lock(&mu_);
    const bool room = fresh.empty() || fresh[0]->storage_.Holds(largest_);
    largest = largest_;
    if (!room) continue;
    free_.reserve(slots_.size() + fresh.size());
    for (auto& slot : fresh) {
      free_.push_back(slot.get());
      slots_.push_back(std::move(slot));
    }
    return;
  }
}

void SlotPool::Require(const SlotLayout& layout) {
  SlotLayout largest;
  {
    absl::MutexLock lock(&mu_);
    largest_.bytes = std::max(largest_.bytes, layout.bytes);
    largest_.inputs.resize(
        std::max(largest_.inputs.size(), layout.inputs.size()));
    largest_.outputs.resize(
        std::max(largest_.outputs.size(), layout.outputs.size()));
    if (SmallerThan(largest_) == nullptr) return;
    largest = largest_;
  }
  // One after the other: no more is held at once than has to be, and nobody
  // waits for the pool while memory is taken or given back.
  while (true) {
    std::optional<SlotStorage> storage(std::in_place, largest);
    absl::MutexLock lock(&mu_);
    CpuSlot* const slot = SmallerThan(largest);
    if (slot == nullptr) return;
    if (IsFree(*slot)) {
      std::swap(slot->storage_, *storage);
    } else {
      std::swap(slot->next_, storage);
    }
  }
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

bool SlotPool::IsFree(const CpuSlot& slot) const {
  return std::find(free_.begin(), free_.end(), &slot) != free_.end();
}

CpuSlot* SlotPool::SmallerThan(const SlotLayout& layout) const {
  for (const auto& slot : slots_) {
    if (!slot->newest().Holds(layout)) return slot.get();
  }
  return nullptr;
}

}  // namespace reprise::cpu
