// Device code that has been loaded, and its kernels by name.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/handle.h"

namespace reprise::cuda {

// Kernels are loaded by force when they are looked up: a function that came
// lazily would be loaded inside a capture, which some drivers refuse.
//
// Lifecycle: the context outlives it; it outlives captured graphs that have its
// kernels.
// Threads: any; Add and Find belong on a loader's, with the context current.
class Modules {
 public:
  Modules() = default;
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  // Loads a cubin, fatbin or PTX (which ends in a zero byte).
  // Of two kernels of one name the first counts. FAILED_PRECONDITION names the
  // image if it was made for other GPUs or for a newer driver.
  absl::Status Add(const CurrentContext& current, absl::string_view name,
                   std::span<const std::byte> image) ABSL_LOCKS_EXCLUDED(mu_);

  // The kernel `entry`, ready to be launched with so many bytes of dynamic
  // shared memory. NOT_FOUND: no module has it; INVALID_ARGUMENT: the GPU has
  // less shared memory.
  absl::StatusOr<CUfunction> Find(const CurrentContext& current,
                                  const std::string& entry,
                                  unsigned shared_bytes)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Whether a module that has been added has it.
  bool Has(const std::string& entry) const ABSL_LOCKS_EXCLUDED(mu_);
  // Whether Find has only to look it up.
  bool IsLoaded(const std::string& entry, unsigned shared_bytes) const
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Kernel {
    CUfunction function = nullptr;
    bool loaded = false;
    unsigned shared_bytes = 0;  // that it may be launched with
  };

  mutable absl::Mutex mu_;
  std::vector<UniqueHandle<CUmodule>> modules_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Kernel> kernels_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reprise::cuda
