// A stretch of device addresses whose memory grows in place.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "runtime/cuda/context.h"

namespace reprise::cuda {

class Arena;

// Somebody needs the first bytes of an arena for as long as this is there.
class ArenaHold {
 public:
  ArenaHold() = default;
  ArenaHold(ArenaHold&& other) noexcept { *this = std::move(other); }
  ArenaHold& operator=(ArenaHold&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ArenaHold();

 private:
  friend class Arena;
  ArenaHold(Arena* arena, int64_t bytes) : arena_(arena), bytes_(bytes) {}

  Arena* arena_ = nullptr;
  int64_t bytes_ = 0;
};

// What captured graphs have baked in must not move: addresses are reserved
// once, for the largest plan that there can be, and physical memory is mapped
// behind the first of them as executables need it. When the largest goes, what
// nobody else needs is unmapped.
//
// Threads: any. Reserve maps memory, which stops the driver for all: it is a
// loader's step. Releasing the last hold that needed some unmaps it.
class Arena {
 public:
  // `context` outlives it. RESOURCE_EXHAUSTED: no such stretch of addresses.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(
      const PrimaryContext& context, int64_t reserve_bytes);

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Makes the first `bytes` usable while the hold is there, which goes before
  // the arena. RESOURCE_EXHAUSTED beyond what was set aside, or if the device
  // has no more: then nothing has happened.
  absl::StatusOr<ArenaHold> Reserve(int64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);
  // What Reserve would map.
  int64_t BytesToGrow(int64_t bytes) const ABSL_LOCKS_EXCLUDED(mu_);

  CUdeviceptr address() const { return address_; }
  int64_t mapped() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class ArenaHold;

  // A piece of physical memory, mapped behind the one before.
  struct Chunk {
    CUmemGenericAllocationHandle handle = 0;
    int64_t bytes = 0;
  };

  Arena(const PrimaryContext& context, CUdeviceptr address, int64_t reserved,
        int64_t granularity)
      : context_(context),
        address_(address),
        reserved_(reserved),
        granularity_(granularity) {}

  int64_t Rounded(int64_t bytes) const;
  absl::Status Map(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void UnmapLast() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release(int64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  const PrimaryContext& context_;
  const CUdeviceptr address_;
  const int64_t reserved_;
  const int64_t granularity_;

  mutable absl::Mutex mu_;
  int64_t mapped_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Chunk> chunks_ ABSL_GUARDED_BY(mu_);
  std::multiset<int64_t> needs_ ABSL_GUARDED_BY(mu_);  // of the holds
};

}  // namespace reprise::cuda
