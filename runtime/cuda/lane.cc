#include "runtime/cuda/lane.h"

#include "absl/memory/memory.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/stream.h"

namespace reprise::cuda {
absl::StatusOr<std::unique_ptr<Lane>> Lane::Create(
    const CurrentContext& current, Modules& modules, int64_t reserve_bytes) {
  auto lane = absl::WrapUnique(new Lane());
  REPRISE_ASSIGN_OR_RETURN(lane->arena_,
                           Arena::Create(current.context(), reserve_bytes));
  for (std::unique_ptr<Arena>& bank : lane->banks_) {
    REPRISE_ASSIGN_OR_RETURN(bank,
                             Arena::Create(current.context(), reserve_bytes));
  }
  REPRISE_ASSIGN_OR_RETURN(lane->stamps_,
                           GraphStamps::Create(current, modules));
  REPRISE_ASSIGN_OR_RETURN(lane->compute_, MakeStream(current));
  REPRISE_ASSIGN_OR_RETURN(lane->copy_in_, MakeStream(current));
  REPRISE_ASSIGN_OR_RETURN(lane->copy_out_, MakeStream(current));
  return lane;
}

std::vector<CUdeviceptr> AddressesIn(
    CUdeviceptr base, const std::vector<SlotLayout::Tensor>& tensors) {
  std::vector<CUdeviceptr> addresses;
  addresses.reserve(tensors.size());
  for (const SlotLayout::Tensor& tensor : tensors) {
    addresses.push_back(base + tensor.offset);
  }
  return addresses;
}

}  // namespace reprise::cuda
