// A model's constants on its GPU.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/weights.h"
#include "runtime/device/load_steps.h"

namespace reprise::cuda {

// Uploaded once, in pieces that are short enough to go between two batches:
// what LoadSteps::longest() allows, by the speed of the piece before, between
// 1 MiB and 8 MiB.
//
// Lifecycle: the context outlives it; it outlives the captured graphs that read
// it.
// Threads: one at a time.
class WeightStore {
 public:
  WeightStore(const PrimaryContext& context, LoadSteps& steps)
      : context_(context), steps_(steps) {}
  WeightStore(const WeightStore&) = delete;
  WeightStore& operator=(const WeightStore&) = delete;
  ~WeightStore();

  CudaWeights& list() { return list_; }

  // Device memory that Upload would take.
  int64_t BytesToUpload() const { return list_.bytes() - uploaded_bytes_; }
  // Brings to the device what the list has more than last time, through
  // `stream`. RESOURCE_EXHAUSTED: no room; then nothing has happened.
  absl::Status Upload(const CurrentContext& current, CUstream stream);

  // Of the entries that have been uploaded, in their order.
  std::span<const CUdeviceptr> addresses() const { return addresses_; }
  int64_t bytes() const { return uploaded_bytes_; }

 private:
  absl::Status UploadPieces(int64_t begin, CUdeviceptr to, CUstream stream);
  void Stage(int64_t begin, int64_t bytes);
  int EntryAt(int64_t offset) const;

  const PrimaryContext& context_;
  LoadSteps& steps_;
  CudaWeights list_;
  std::vector<DeviceBuffer> slabs_;
  PinnedBuffer staging_;  // while Upload runs
  std::vector<CUdeviceptr> addresses_;
  int64_t uploaded_bytes_ = 0;
};

}  // namespace reprise::cuda
