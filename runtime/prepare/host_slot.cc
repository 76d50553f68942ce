#include "runtime/prepare/host_slot.h"

#include "runtime/base/status_macros.h"
#include "runtime/prepare/slot_pool.h"

namespace reprise {

absl::StatusOr<SlotStorage> SlotStorage::Create(const SlotLayout& layout,
                                                const SlotAllocator& allocate) {
  SlotStorage storage;
  REPRISE_ASSIGN_OR_RETURN(storage.memory_, allocate(layout.bytes));
  storage.max_inputs_ = layout.inputs.size();
  storage.max_outputs_ = layout.outputs.size();
  storage.inputs_.reserve(storage.max_inputs_);
  storage.outputs_.reserve(storage.max_outputs_);
  return storage;
}

bool SlotStorage::Holds(const SlotLayout& layout) const {
  return bytes() >= layout.bytes && max_inputs_ >= layout.inputs.size() &&
         max_outputs_ >= layout.outputs.size();
}

void SlotStorage::Trim(size_t bytes) {
  if (memory_ != nullptr && memory_->bytes() > bytes) memory_->Trim(bytes);
}

void SlotStorage::Use(const SlotLayout& layout) {
  inputs_.clear();
  outputs_.clear();
  for (const SlotLayout::Tensor& tensor : layout.inputs) {
    inputs_.push_back(memory_->data() + tensor.offset);
  }
  for (const SlotLayout::Tensor& tensor : layout.outputs) {
    outputs_.push_back(memory_->data() + tensor.offset);
  }
}

std::span<std::byte> HostSlot::input(int k) {
  return {storage_.inputs()[k], layout_->inputs[k].bytes};
}

std::span<const std::byte> HostSlot::output(int k) const {
  return {storage_.outputs()[k], layout_->outputs[k].bytes};
}

void HostSlot::Release() {
  if (pool_ != nullptr) pool_->Release(this);
}

absl::Status HostSlot::Grow(const SlotLayout& layout,
                            const SlotAllocator& allocate) {
  if (storage_.Holds(layout)) return absl::OkStatus();
  REPRISE_ASSIGN_OR_RETURN(storage_, SlotStorage::Create(layout, allocate));
  return absl::OkStatus();
}

void HostSlot::Use(const SlotLayout& layout) {
  layout_ = &layout;
  storage_.Use(layout);
}

}  // namespace reprise
