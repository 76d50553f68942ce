#include "runtime/cuda/pinned_slot_memory.h"

#include <algorithm>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {

class PinnedSlotMemory::Block final : public SlotMemory {
 public:
  Block(PinnedSlotMemory& owner, PinnedBuffer buffer)
      : owner_(owner), buffer_(std::move(buffer)) {}
  ~Block() override {
    absl::MutexLock lock(&owner_.mu_);
    owner_.given_back_.push_back(std::move(buffer_));
  }

  std::byte* data() override { return buffer_.data(); }
  size_t bytes() const override { return buffer_.bytes(); }
  void Trim(size_t /*bytes*/) override {}  // a block is page-locked as a whole

 private:
  PinnedSlotMemory& owner_;
  PinnedBuffer buffer_;
};

PinnedSlotMemory::~PinnedSlotMemory() {
  const auto current = CurrentContext::Enter(context_);
  if (!current.ok()) LogError(current.status().message());
  Free();
}

void PinnedSlotMemory::Free() {
  std::vector<PinnedBuffer> freed;
  absl::MutexLock lock(&mu_);
  std::swap(freed, given_back_);
}

absl::StatusOr<std::unique_ptr<SlotMemory>> PinnedSlotMemory::Allocate(
    size_t bytes) {
  REPRISE_ASSIGN_OR_RETURN(const CurrentContext current,
                           CurrentContext::Enter(context_));
  PinnedBuffer buffer;
  const auto pin = [&]() -> absl::Status {
    Free();
    REPRISE_ASSIGN_OR_RETURN(
        buffer, PinnedBuffer::Allocate(current, std::max<size_t>(bytes, 1)));
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(steps_.Run(LoadStep::kPinMemory, pin));
  return std::make_unique<Block>(*this, std::move(buffer));
}

}  // namespace reprise::cuda
