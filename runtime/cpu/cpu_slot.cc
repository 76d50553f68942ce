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

std::span<std::byte> CpuSlot::input(int k) {
  return {inputs_[k], layout_->inputs[k].bytes};
}

std::span<const std::byte> CpuSlot::output(int k) const {
  return {outputs_[k], layout_->outputs[k].bytes};
}

void CpuSlot::Release() {
  if (pool_ != nullptr) pool_->Release(this);
}

void CpuSlot::Grow(const SlotLayout& layout) {
  inputs_.reserve(layout.inputs.size());
  outputs_.reserve(layout.outputs.size());
  if (buffer_.size() >= layout.bytes) return;
  buffer_ = AlignedBuffer(layout.bytes);
}

void CpuSlot::Use(const SlotLayout& layout) {
  layout_ = &layout;
  inputs_.clear();
  outputs_.clear();
  for (const SlotLayout::Tensor& tensor : layout.inputs) {
    inputs_.push_back(buffer_.data() + tensor.offset);
  }
  for (const SlotLayout::Tensor& tensor : layout.outputs) {
    outputs_.push_back(buffer_.data() + tensor.offset);
  }
}

void SlotPool::Add(int count) {
  absl::MutexLock lock(&mu_);
  for (int i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<CpuSlot>(this));
    slots_.back()->Grow(largest_);
    free_.push_back(slots_.back().get());
  }
  free_.reserve(slots_.size());
}

void SlotPool::Require(const SlotLayout& layout) {
  absl::MutexLock lock(&mu_);
  largest_.bytes = std::max(largest_.bytes, layout.bytes);
  largest_.inputs.resize(
      std::max(largest_.inputs.size(), layout.inputs.size()));
  largest_.outputs.resize(
      std::max(largest_.outputs.size(), layout.outputs.size()));
  for (CpuSlot* slot : free_) slot->Grow(largest_);
}

CpuSlot* SlotPool::Acquire(const SlotLayout& layout) {
  CpuSlot* slot = nullptr;
  {
    absl::MutexLock lock(&mu_);
    if (free_.empty()) return nullptr;
    slot = free_.back();
    free_.pop_back();
    slot->Grow(largest_);
  }
  slot->Use(layout);
  return slot;
}

void SlotPool::Release(CpuSlot* slot) {
  absl::MutexLock lock(&mu_);
  free_.push_back(slot);
}

int SlotPool::size() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(slots_.size());
}

}  // namespace reprise::cpu
