// One variant of a model on one device: rungs to run, slots to fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/tensor/ladder.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// Host buffers for all inputs and outputs of one batch, rows of the largest
// rung each, page-locked where the device copies from them. Row r of input k is
// input(k).subspan(r * row_bytes, row_bytes), row_bytes by the executable's
// signature. STRING tensors hold StringRefs (tensor/string_ref.h).
//
// Threads: filled by the worker, read by whoever holds a share of its outputs.
class Slot {
 public:
  virtual ~Slot() = default;
  virtual std::span<std::byte> input(int k) = 0;
  virtual std::span<const std::byte> output(int k) const = 0;

  // Gives the slot back to its pool. Any thread. Called by SlotLease.
  virtual void Release() = 0;
};

// Owns the use of a slot and gives it back exactly once, from any thread.
class SlotLease {
 public:
  SlotLease() = default;
  explicit SlotLease(Slot* slot) : slot_(slot) {}
  SlotLease(SlotLease&& other) noexcept
      : slot_(std::exchange(other.slot_, nullptr)) {}
  SlotLease& operator=(SlotLease&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~SlotLease() { Reset(); }

  void Reset() {
    if (slot_ != nullptr) std::exchange(slot_, nullptr)->Release();
  }
  Slot* get() const { return slot_; }
  Slot& operator*() const { return *slot_; }
  Slot* operator->() const { return slot_; }
  explicit operator bool() const { return slot_ != nullptr; }

 private:
  Slot* slot_ = nullptr;
};

// Times of one run by the device's own clock.
struct RunTimes {
  absl::Duration graph;    // the replay itself: always measured
  absl::Duration copy_in;  // zero where not measured
  absl::Duration copy_out;
  // When the replay began, on a time line that all lanes of the device share;
  // absent where no two of its replays overlap.
  std::optional<absl::Duration> graph_begun = std::nullopt;
};

// Lifecycle: AcquireSlot, fill, Submit, Wait until done, read the outputs, drop
// the lease. At most one batch of a lane runs at a time; a further Submit is
// queued behind it by the device.
// Threads: all methods on the thread that owns the device, but signature(),
// captured_graphs(), arena_bytes() and live_bytes(); where RunsInline, on any
// thread, one at a time.
class Executable {
 public:
  virtual ~Executable() = default;

  // Every dim but the batch is bound.
  virtual const Signature& signature() const = 0;

  // Rungs that can run, with their times as of now.
  virtual const Ladder& ladder() const = 0;

  // From the worker's pool; empty when all slots are in use.
  virtual SlotLease AcquireSlot() = 0;
  // How many slots of that pool are in nobody's hands, as of now.
  virtual int free_slots() const = 0;

  // Pads `rows` to the next rung with copies of row 0, and runs it; returns at
  // once. OUT_OF_RANGE if no rung has room for `rows`. The slot may not be
  // written until Wait says that it is done.
  virtual absl::Status Submit(Slot& slot, int rows) = 0;

  // Waits for the run of `slot`. DEADLINE_EXCEEDED when `deadline` has passed
  // and ABORTED after Device::Wake: the run goes on, and Wait may be called
  // again. Any other error is that of the run.
  virtual absl::StatusOr<RunTimes> Wait(Slot& slot, absl::Time deadline) = 0;

  // Whether Submit of `rows` rows would run them itself, within microseconds:
  // then it is not worth waking the thread that owns the device.
  virtual bool RunsInline(int /*rows*/) const { return false; }

  // Graphs that it has captured, of all rungs; a device may do without.
  virtual int captured_graphs() const { return 0; }

  // Bytes of the arena that this variant needs; slots and weights apart.
  virtual int64_t arena_bytes() const = 0;
  // How much of it activations need at the same time, so that no plan could do
  // with less: without the scratch of kernels and libraries.
  virtual int64_t live_bytes() const { return arena_bytes(); }
};

}  // namespace reprise
