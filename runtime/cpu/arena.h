// A stretch of addresses that grows in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace reprise::cpu {

// All executables of a lane share its arena, since one batch runs at a time.
// Its address never changes: memory is committed at its end as plans need it.
//
// Threads: any.
class Arena {
 public:
  // RESOURCE_EXHAUSTED if the address space is not to be had.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(int64_t reserve_bytes);

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Makes the first `bytes` usable. RESOURCE_EXHAUSTED beyond what was set
  // aside, or if the system refuses.
  absl::Status Reserve(int64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  std::byte* data() const { return data_; }
  int64_t size() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Arena(std::byte* data, int64_t reserved) : data_(data), reserved_(reserved) {}

  std::byte* const data_;
  const int64_t reserved_;

  mutable absl::Mutex mu_;
  int64_t size_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace reprise::cpu
