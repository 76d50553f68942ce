#include "runtime/cuda/weight_store.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/time/time.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

// The largest one takes a sixth of a millisecond over PCIe 5, and page-locking
// room for it one and a half.
constexpr int64_t kSmallestPiece = int64_t{1} << 20;
constexpr int64_t kLargestPiece = int64_t{8} << 20;

// Half of what would fill a step, going by the last piece.
int64_t NextPiece(int64_t bytes, absl::Duration took, absl::Duration longest) {
  if (took <= absl::ZeroDuration()) return kLargestPiece;
  const double fits = absl::FDivDuration(longest, took) / 2;
  const double next = fits * static_cast<double>(bytes);
  return std::clamp(static_cast<int64_t>(std::min(next, 1e18)), kSmallestPiece,
                    kLargestPiece);
}

}  // namespace

WeightStore::~WeightStore() {
  if (slabs_.empty()) return;
  const absl::Time begun = steps_.clock().Now();
  const auto current = CurrentContext::Enter(context_);
  if (!current.ok()) LogError(current.status().message());
  slabs_.clear();
  steps_.Count(LoadStep::kFree, steps_.clock().Now() - begun);
}

absl::Status WeightStore::Upload(const CurrentContext& current,
                                 CUstream stream) {
  const int64_t begin = uploaded_bytes_;
  const auto first = static_cast<int>(addresses_.size());
  if (list_.size() == first) return absl::OkStatus();
  DeviceBuffer slab;
  const auto allocate = [&]() -> absl::Status {
    REPRISE_ASSIGN_OR_RETURN(slab,
                             DeviceBuffer::Allocate(current, BytesToUpload()));
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(steps_.Run(LoadStep::kMapMemory, allocate));
  const auto pin = [&]() -> absl::Status {
    const int64_t bytes = std::min(kLargestPiece, BytesToUpload());
    REPRISE_ASSIGN_OR_RETURN(
        staging_, PinnedBuffer::Allocate(current, static_cast<size_t>(bytes)));
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(steps_.Run(LoadStep::kPinMemory, pin));
  const absl::Status status = UploadPieces(begin, slab.address(), stream);
  const absl::Status freed = steps_.Run(LoadStep::kPinMemory, [&] {
    staging_ = PinnedBuffer();
    return absl::OkStatus();
  });
  REPRISE_RETURN_IF_ERROR(status);
  REPRISE_RETURN_IF_ERROR(freed);
  for (int i = first; i < list_.size(); ++i) {
    addresses_.push_back(slab.address() + static_cast<CUdeviceptr>(
                                              list_.entry(i).offset - begin));
  }
  slabs_.push_back(std::move(slab));
  uploaded_bytes_ = list_.bytes();
  list_.DropHostCopies();
  return absl::OkStatus();
}

absl::Status WeightStore::UploadPieces(int64_t begin, CUdeviceptr to,
                                       CUstream stream) {
  const Driver& driver = context_.driver();
  int64_t piece = kSmallestPiece;
  for (int64_t at = begin; at < list_.bytes();) {
    const int64_t bytes = std::min(piece, list_.bytes() - at);
    Stage(at, bytes);
    absl::Duration took;
    const auto work = [&]() -> absl::Status {
      const absl::Time begun = steps_.clock().Now();
      REPRISE_RETURN_IF_ERROR(ToStatus(
          driver,
          driver.MemcpyHtoDAsync(to + static_cast<CUdeviceptr>(at - begin),
                                 staging_.data(), static_cast<size_t>(bytes),
                                 stream),
          "uploading weights"));
      REPRISE_RETURN_IF_ERROR(ToStatus(driver, driver.StreamSynchronize(stream),
                                       "uploading weights"));
      took = steps_.clock().Now() - begun;
      return absl::OkStatus();
    };
    REPRISE_RETURN_IF_ERROR(steps_.Run(LoadStep::kUpload, work));
    at += bytes;
    piece = NextPiece(bytes, took, steps_.longest());
  }
  return absl::OkStatus();
}

// Brings bytes [begin, begin + bytes) of the slab to be, which may begin and
// end within an entry, to the staging buffer.
void WeightStore::Stage(int64_t begin, int64_t bytes) {
  const int64_t end = begin + bytes;
  for (int i = EntryAt(begin); i < list_.size(); ++i) {
    const CudaWeights::Entry& entry = list_.entry(i);
    if (entry.offset >= end) break;
    const int64_t from = std::max(begin, entry.offset);
    const int64_t to = std::min(end, entry.offset + entry.bytes);
    if (from >= to) continue;
    std::memcpy(staging_.data() + (from - begin),
                entry.data + (from - entry.offset),
                static_cast<size_t>(to - from));
  }
}

// The last of the new entries that begins at `offset` or before it.
int WeightStore::EntryAt(int64_t offset) const {
  auto low = static_cast<int>(addresses_.size());
  int high = list_.size();
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (list_.entry(middle).offset <= offset ? low : high) = middle;
  }
  return low;
}

}  // namespace reprise::cuda
