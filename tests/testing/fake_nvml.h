// NVML without a driver: the same table of functions, over figures of a test.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "runtime/cuda/nvml.h"

namespace reprise::testing {

// One GPU or slice. A figure's result other than success is returned instead.
struct FakeNvmlGpu {
  uint64_t energy_millijoules = 0;
  cuda::NvmlMemory memory = {};
  unsigned sm_megahertz = 0;
  uint64_t limits = 0;
  uint64_t ecc_errors = 0;
  // By function: "DeviceGetClockInfo".
  std::map<std::string, cuda::NvmlReturn> results = {};
};

// There is one at a time, for the functions are plain pointers.
//
// Threads: one at a time.
class FakeNvml {
 public:
  FakeNvml();
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;
  ~FakeNvml();

  const cuda::Nvml& nvml() const { return nvml_; }
  // The address of what is exported as `symbol` ("nvmlInit_v2"), or null.
  void* Symbol(const std::string& symbol) const;

  // By UUID.
  std::map<std::string, FakeNvmlGpu> gpus;
  // That wait to be told, of GPUs whose events are registered.
  std::deque<cuda::NvmlEvent> events;
  cuda::NvmlReturn init_result = cuda::kNvmlSuccess;
  // What happened.
  int inits = 0;
  int live_event_sets = 0;
  uint64_t registered_types = 0;

  // For the functions of the table.
  struct Functions;

 private:
  cuda::Nvml nvml_;
};

}  // namespace reprise::testing
