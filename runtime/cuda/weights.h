// The constants of one model, as its GPU shall hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::cuda {

// A list of constants with a place for each in one slab. Whatever number of
// rungs and variants ask for it, a tensor is there once for each type that it
// is wanted in. Entries never move and never change, so that what has been
// uploaded stays valid when a later lowering adds to the end. Pure data: the
// device uploads it.
//
// Lifecycle: filled by lowerings; the device uploads the entries that it has
// not yet, and may then drop the host's copies of converted ones.
// Threads: one at a time (LoadedModel::Prepare is).
// Owns: converted and derived bytes, and a share of each tensor, whose address
// is its name.
class CudaWeights {
 public:
  struct Entry {
    int64_t offset = 0;  // in the slab, a multiple of kAlignment
    int64_t bytes = 0;
    const std::byte* data = nullptr;  // null once dropped, or without bytes
  };
  static constexpr int64_t kAlignment = 256;

  CudaWeights() = default;
  CudaWeights(const CudaWeights&) = delete;
  CudaWeights& operator=(const CudaWeights&) = delete;

  // The index of `tensor` in type `as`: its own, or FP16 or BF16 for one of
  // FP32, which is converted here. A number that FP16 cannot hold becomes the
  // largest that it can (-FLT_MAX, as masks have it, must not become an
  // infinity that makes NaN of its neighbours); infinities and NaN stay.
  // INTERNAL for other pairs; RESOURCE_EXHAUSTED if host memory has no room.
  absl::StatusOr<int> Add(const std::shared_ptr<const HostTensor>& tensor,
                          DType as);
  // The index of bytes that are no tensor of the graph, such as tables. The
  // same key is the same entry; the first one's bytes are kept.
  int AddBytes(absl::string_view key, std::vector<std::byte> bytes);

  int size() const { return static_cast<int>(entries_.size()); }
  const Entry& entry(int index) const {
    return entries_[static_cast<size_t>(index)];
  }
  // Of the slab so far: every entry lies below it.
  int64_t bytes() const { return bytes_; }

  // Frees what was converted or derived; entry() then has no data for it. For
  // callers who have uploaded it.
  void DropHostCopies();

 private:
  int AddEntry(const std::byte* data, int64_t bytes);

  std::map<std::pair<const HostTensor*, DType>, int> tensors_;
  std::map<std::string, int, std::less<>> keys_;
  std::vector<std::shared_ptr<const HostTensor>> kept_;
  std::map<int, AlignedBuffer> converted_;         // by entry
  std::map<int, std::vector<std::byte>> derived_;  // by entry
  std::vector<Entry> entries_;
  int64_t bytes_ = 0;
};

}  // namespace reprise::cuda
