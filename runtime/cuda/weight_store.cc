#include "runtime/cuda/weight_store.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {
namespace {

// Of one step: a third of a millisecond over PCIe 5.
constexpr int64_t kPieceBytes = int64_t{16} << 20;

}  // namespace

WeightStore::~WeightStore() {
  if (slabs_.empty()) return;
  const auto current = CurrentContext::Enter(context_);
  if (!current.ok()) LogError(current.status().message());
  slabs_.clear();
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
    const int64_t bytes = std::min(kPieceBytes, BytesToUpload());
    REPRISE_ASSIGN_OR_RETURN(
        staging_, PinnedBuffer::Allocate(current, static_cast<size_t>(bytes)));
    return absl::OkStatus();
  };
  REPRISE_RETURN_IF_ERROR(steps_.Run(LoadStep::kPinMemory, pin));
  std::vector<CUdeviceptr> addresses;
  absl::Status status;
  for (int i = first; i < list_.size() && status.ok(); ++i) {
    const CudaWeights::Entry& entry = list_.entry(i);
    addresses.push_back(slab.address() +
                        static_cast<CUdeviceptr>(entry.offset - begin));
    status = UploadEntry(entry, addresses.back(), stream);
  }
  const absl::Status freed = steps_.Run(LoadStep::kPinMemory, [&] {
    staging_ = PinnedBuffer();
    return absl::OkStatus();
  });
  REPRISE_RETURN_IF_ERROR(status);
  REPRISE_RETURN_IF_ERROR(freed);
  slabs_.push_back(std::move(slab));
  addresses_.insert(addresses_.end(), addresses.begin(), addresses.end());
  uploaded_bytes_ = list_.bytes();
  list_.DropHostCopies();
  return absl::OkStatus();
}

absl::Status WeightStore::UploadEntry(const CudaWeights::Entry& entry,
                                      CUdeviceptr to, CUstream stream) {
  const Driver& driver = context_.driver();
  for (int64_t done = 0; done < entry.bytes; done += kPieceBytes) {
    const auto bytes =
        static_cast<size_t>(std::min(kPieceBytes, entry.bytes - done));
    std::memcpy(staging_.data(), entry.data + done, bytes);
    const auto work = [&]() -> absl::Status {
      REPRISE_RETURN_IF_ERROR(
          ToStatus(driver,
                   driver.MemcpyHtoDAsync(to + static_cast<CUdeviceptr>(done),
                                          staging_.data(), bytes, stream),
                   "uploading weights"));
      return ToStatus(driver, driver.StreamSynchronize(stream),
                      "uploading weights");
    };
    REPRISE_RETURN_IF_ERROR(steps_.Run(LoadStep::kUpload, work));
  }
  return absl::OkStatus();
}

}  // namespace reprise::cuda
