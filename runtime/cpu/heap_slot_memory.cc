#include "runtime/cpu/heap_slot_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "runtime/base/status_macros.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::cpu {
namespace {

class HeapSlotMemory final : public SlotMemory {
 public:
  explicit HeapSlotMemory(AlignedBuffer buffer)
      : buffer_(std::move(buffer)), bytes_(buffer_.size()) {}

  std::byte* data() override { return buffer_.data(); }
  size_t bytes() const override { return bytes_; }
  void Trim(size_t bytes) override;

 private:
  AlignedBuffer buffer_;
  size_t bytes_ = 0;  // of the buffer's: those that were not given back
};

void HeapSlotMemory::Trim(size_t bytes) {
  if (bytes >= bytes_) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(buffer_.data());
  const uintptr_t first = (begin + bytes + page - 1) / page * page;
  const uintptr_t last = (begin + bytes_) / page * page;
  bytes_ = bytes;
  if (first >= last) return;
  // Whole pages of this buffer's alone; the heap gets them back empty.
  madvise(buffer_.data() + (first - begin), last - first, MADV_DONTNEED);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SlotMemory>> AllocateOnHeap(size_t bytes) {
  REPRISE_ASSIGN_OR_RETURN(AlignedBuffer buffer, AlignedBuffer::Create(bytes));
  return std::make_unique<HeapSlotMemory>(std::move(buffer));
}

}  // namespace reprise::cpu
