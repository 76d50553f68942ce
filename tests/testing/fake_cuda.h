// A CUDA driver without a GPU: the same table of functions, over host memory.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "runtime/cuda/driver.h"

namespace reprise::testing {

struct FakeCudaState;

struct FakeGpu {
  std::string name = "Fake GPU";
  std::array<unsigned char, 16> uuid = {};  // all zero: the ordinal at its end
  int major = 9;                            // compute capability
  int minor = 0;
  size_t total_memory = size_t{1} << 30;
  // Beside those of every GPU, or instead.
  std::map<CUdevice_attribute, int> attributes = {};
};

// A kernel that ran.
struct FakeLaunch {
  std::string name;
  std::array<unsigned, 3> grid = {};
  std::array<unsigned, 3> block = {};
  unsigned shared_bytes = 0;
  // Known when the kernel was registered; else empty, or the whole buffer where
  // arguments came as one.
  std::vector<std::vector<std::byte>> arguments;
  CUstream stream = nullptr;  // that it, or its graph, was launched on
  int device = 0;
  bool in_graph = false;
  int64_t nanoseconds = 0;  // of the GPU's time, when it began
};

// What a registered kernel sees of its launch.
class FakeKernelCall {
 public:
  using Resolve = std::function<void*(CUdeviceptr, size_t)>;
  FakeKernelCall(const FakeLaunch& launch, Resolve resolve)
      : launch_(launch), resolve_(std::move(resolve)) {}

  const FakeLaunch& launch() const { return launch_; }
  // The GPU's clock.
  uint64_t nanoseconds() const {
    return static_cast<uint64_t>(launch_.nanoseconds) + 1;  // never 0
  }
  // Host memory of that many bytes at a device address; null: not all there.
  const Resolve& resolve() const { return resolve_; }
  template <typename T>
  T Value(size_t argument) const {
    T value{};
    std::memcpy(&value, launch_.arguments.at(argument).data(), sizeof(T));
    return value;
  }
  // Memory of the device with room for `count`; null, and a fault noted, where
  // there is none. A null argument stays null.
  template <typename T>
  T* Pointer(size_t argument, size_t count) const {
    const auto address = Value<CUdeviceptr>(argument);
    if (address == 0) return nullptr;
    return static_cast<T*>(resolve_(address, count * sizeof(T)));
  }

 private:
  const FakeLaunch& launch_;
  Resolve resolve_;
};

// What lives.
struct FakeCudaCounts {
  int contexts = 0, streams = 0, events = 0, modules = 0, graphs = 0, execs = 0;
  int device_allocations = 0, pinned_allocations = 0;
  int reservations = 0, physical = 0, mappings = 0;
  bool operator==(const FakeCudaCounts&) const = default;
};

// The driver as a test sees it. Functions of `driver()` are plain pointers, so
// there is one FakeCuda at a time: the last that was made and still lives.
//
// Device addresses are no host addresses: Host() translates. Copies and fills
// are done, captured graphs are replayed, kernels are noted, and run if a test
// registered a function for them. A misuse is refused with a fitting CUresult,
// and noted: tests end by expecting misuses() to be empty. Injected failures
// are none.
//
// Threads: every method from any thread, and so the driver's functions.
// A registered kernel may call nothing but its FakeKernelCall.
class FakeCuda {
 public:
  explicit FakeCuda(std::vector<FakeGpu> gpus = {FakeGpu{}});
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  ~FakeCuda();

  const cuda::Driver& driver() const { return driver_; }
  // The address of the function that is exported as `symbol` ("cuMemAlloc_v2"),
  // as dlsym would find it.
  void* Symbol(absl::string_view symbol) const;

  // --- What happened.
  FakeCudaCounts live() const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<std::string> misuses() const ABSL_LOCKS_EXCLUDED(mu_);
  // Calls so far, but those of GetErrorName and GetErrorString.
  int calls() const ABSL_LOCKS_EXCLUDED(mu_);
  int calls(const std::string& function) const ABSL_LOCKS_EXCLUDED(mu_);
  // Kernels that ran, in order; ClearLaunches forgets them.
  std::vector<FakeLaunch> launches() const ABSL_LOCKS_EXCLUDED(mu_);
  void ClearLaunches() ABSL_LOCKS_EXCLUDED(mu_);

  // --- Memory.
  // `bytes` of device memory as the host sees them; null, and a misuse noted,
  // where they are not all allocated.
  void* Host(CUdeviceptr address, size_t bytes) ABSL_LOCKS_EXCLUDED(mu_);
  // As if other processes had left so much.
  void SetFree(int device, size_t bytes) ABSL_LOCKS_EXCLUDED(mu_);
  size_t Free(int device) const ABSL_LOCKS_EXCLUDED(mu_);
  // Device memory that every instantiated graph takes; 0 unless set.
  void SetGraphBytes(size_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  // --- Kernels. Every module has all that have been added, but those hidden.
  using Kernel = std::function<void(const FakeKernelCall&)>;
  void AddKernel(const std::string& name, std::vector<size_t> argument_sizes,
                 Kernel run = nullptr) ABSL_LOCKS_EXCLUDED(mu_);
  void HideKernel(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // From now on a launch of `name` leaves its context with `error`, which every
  // call there returns.
  void FaultKernel(const std::string& name, CUresult error)
      ABSL_LOCKS_EXCLUDED(mu_);
  // A launch of `name` does not end while it is held.
  void HoldKernel(const std::string& name, bool held) ABSL_LOCKS_EXCLUDED(mu_);

  // --- Failures. The n-th call from now (1: the next one) of `function` ("the
  // table's name: MemAlloc"), or of all, returns `result` and does nothing; but
  // what destroys or ends something still does so, as in the driver.
  void FailAt(const std::string& function, int n, CUresult result)
      ABSL_LOCKS_EXCLUDED(mu_);
  void FailCall(int n, CUresult result) ABSL_LOCKS_EXCLUDED(mu_);

  // --- Completion. Work is done as it is issued, unless manual: then when the
  // test says so. StreamSynchronize blocks until it is done.
  void SetManual(bool manual) ABSL_LOCKS_EXCLUDED(mu_);  // false: does all
  // Does the oldest copy, fill, kernel or graph of `stream`, and what events
  // and waits stand next to it. False: there is none, or it waits for another
  // stream.
  bool CompleteNext(CUstream stream) ABSL_LOCKS_EXCLUDED(mu_);
  void CompleteAll() ABSL_LOCKS_EXCLUDED(mu_);
  // Blocks until `stream` has work that is not done.
  void AwaitPending(CUstream stream) ABSL_LOCKS_EXCLUDED(mu_);

  // --- Time of the GPU, as events have it. Work starts when its stream and
  // what it waits for are done, and not before the clock, which only Advance
  // moves; each kernel, copy and fill takes 1 us unless told otherwise.
  void Advance(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mu_);
  void SetKernelTime(const std::string& name, absl::Duration time)
      ABSL_LOCKS_EXCLUDED(mu_);
  void SetCopyTime(absl::Duration time) ABSL_LOCKS_EXCLUDED(mu_);

  // As a library launches a kernel of its own: to `stream`, or into its
  // capture.
  CUresult LaunchOwn(CUstream stream, FakeLaunch launch, Kernel run)
      ABSL_LOCKS_EXCLUDED(mu_);

  // The one in use; for the functions of the table.
  static FakeCuda& Current();
  // Does `body` under the lock, with the bookkeeping that each call has.
  // `always`: also where the call is to fail.
  CUresult Call(const char* function, bool always,
                const std::function<CUresult(FakeCudaState&)>& body)
      ABSL_LOCKS_EXCLUDED(mu_);
  CUresult Synchronize(CUstream stream) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  CUresult Injected(const char* function) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  cuda::Driver driver_;
  FakeCuda* const before_;
  mutable absl::Mutex mu_;
  const std::unique_ptr<FakeCudaState> state_ ABSL_PT_GUARDED_BY(mu_);
};

}  // namespace reprise::testing
