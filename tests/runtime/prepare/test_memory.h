// Slots' memory for tests: of the heap, counted by the bytes asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/prepare/slot_memory.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise {

class TestMemory final : public SlotMemory {
 public:
  TestMemory(AlignedBuffer buffer, bool rigid)
      : buffer_(std::move(buffer)), bytes_(buffer_.size()), rigid_(rigid) {}

  std::byte* data() override { return buffer_.data(); }
  size_t bytes() const override { return bytes_; }
  void Trim(size_t bytes) override {
    if (!rigid_) bytes_ = std::min(bytes_, bytes);
  }

 private:
  AlignedBuffer buffer_;
  size_t bytes_ = 0;
  const bool rigid_;
};

inline absl::StatusOr<std::unique_ptr<SlotMemory>> AllocateTestMemory(
    size_t bytes, bool rigid) {
  absl::StatusOr<AlignedBuffer> buffer = AlignedBuffer::Create(bytes);
  if (!buffer.ok()) return buffer.status();
  return std::make_unique<TestMemory>(*std::move(buffer), rigid);
}

inline absl::StatusOr<std::unique_ptr<SlotMemory>> AllocateForTest(
    size_t bytes) {
  return AllocateTestMemory(bytes, /*rigid=*/false);
}

// It cannot be trimmed.
inline absl::StatusOr<std::unique_ptr<SlotMemory>> AllocateRigid(size_t bytes) {
  return AllocateTestMemory(bytes, /*rigid=*/true);
}

}  // namespace reprise
