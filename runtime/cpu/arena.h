// A stretch of addresses that grows in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace reprise::cpu {

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

// All executables of a lane share its arena, since one batch runs at a time.
// Its address never changes: memory is committed at its end as plans need it,
// and given back when the last that needed so much is gone.
//
// Threads: any.
class Arena {
 public:
  // Sets aside addresses for holds of up to `bytes`. RESOURCE_EXHAUSTED if the
  // address space is not to be had.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(int64_t bytes);

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Makes the first `bytes` usable while the hold is there, which goes before
  // the arena. RESOURCE_EXHAUSTED beyond what was set aside, or if the system
  // refuses.
  absl::StatusOr<ArenaHold> Reserve(int64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  std::byte* data() const { return data_; }
  int64_t size() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class ArenaHold;

  Arena(std::byte* data, int64_t reserved) : data_(data), reserved_(reserved) {}

  void Release(int64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  std::byte* const data_;
  const int64_t reserved_;

  mutable absl::Mutex mu_;
  int64_t size_ ABSL_GUARDED_BY(mu_) = 0;
  std::multiset<int64_t> needs_ ABSL_GUARDED_BY(mu_);  // of the holds
};

}  // namespace reprise::cpu
