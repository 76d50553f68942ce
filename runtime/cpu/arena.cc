#include "runtime/cpu/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace reprise::cpu {
namespace {

constexpr int64_t kPage = int64_t{2} << 20;  // of the large kind

int64_t RoundUp(int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

ArenaHold::~ArenaHold() {
  if (arena_ != nullptr) arena_->Release(bytes_);
}

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(int64_t bytes) {
  constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max() - kPage;
  const int64_t reserve_bytes = RoundUp(std::min(bytes, kMostBytes));
  void* const data =
      mmap(nullptr, static_cast<size_t>(reserve_bytes), PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot set aside ", reserve_bytes,
        " bytes of addresses for an arena: ", std::strerror(errno)));
  }
  return absl::WrapUnique(
      new Arena(static_cast<std::byte*>(data), reserve_bytes));
}

Arena::~Arena() { munmap(data_, static_cast<size_t>(reserved_)); }

absl::StatusOr<ArenaHold> Arena::Reserve(int64_t bytes) {
  absl::MutexLock lock(&mu_);
  if (bytes > size_) {
    if (bytes > reserved_ || RoundUp(bytes) > reserved_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("an arena of ", bytes, " bytes is asked for, and ",
                       reserved_, " are set aside"));
    }
    const int64_t rounded = RoundUp(bytes);
    if (mprotect(data_, static_cast<size_t>(rounded), PROT_READ | PROT_WRITE) !=
        0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot commit an arena of ", bytes,
                       " bytes: ", std::strerror(errno)));
    }
    size_ = rounded;
  }
  needs_.insert(bytes);
  return ArenaHold(this, bytes);
}

void Arena::Release(int64_t bytes) {
  absl::MutexLock lock(&mu_);
  needs_.erase(needs_.find(bytes));
  const int64_t rest = needs_.empty() ? 0 : RoundUp(*needs_.rbegin());
  if (rest >= size_) return;
  // Mapped anew, since that gives back what was promised too. If the system
  // refuses, the pages stay.
  if (mmap(data_ + rest, static_cast<size_t>(size_ - rest), PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) != MAP_FAILED) {
    size_ = rest;
  }
}

int64_t Arena::size() const {
  absl::MutexLock lock(&mu_);
  return size_;
}

}  // namespace reprise::cpu
