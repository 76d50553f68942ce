// What a FakeCuda keeps, and the rules that its functions share.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/fake_cuda.h"

namespace reprise::testing {

// Set in every device address, so that nobody can follow one on the host.
inline constexpr CUdeviceptr kDeviceBit = CUdeviceptr{1} << 62;
inline constexpr size_t kGranularity = size_t{2} << 20;

struct FakeContext {
  int retained = 0;
  CUresult error = CUDA_SUCCESS;  // that every call returns, once it is set
};

struct FakeAllocation {
  int device = 0;
  size_t bytes = 0;
  CUcontext context = nullptr;
};

struct FakePhysical {
  int device = 0;
  size_t bytes = 0;
  int file = -1;
  int mappings = 0;
  bool released = false;
};

struct FakeReservation {
  size_t bytes = 0;
  void* base = nullptr;  // of the host's mapping
  size_t base_bytes = 0;
};

struct FakeMapping {
  size_t bytes = 0;
  CUmemGenericAllocationHandle physical = 0;
  bool access = false;
};

struct FakeModule {
  CUcontext context = nullptr;
  std::map<std::string, CUfunction> functions;
};

struct FakeFunction {
  std::string name;
  CUcontext context = nullptr;
  bool loaded = false;
  int max_shared = 48 << 10;
};

struct FakeKernelOp {
  CUfunction function = nullptr;
  FakeLaunch launch;
  FakeCuda::Kernel run;  // of a library's kernel, which has no function
};
struct FakeCopyOp {
  enum class Kind { kHostToDevice, kDeviceToHost, kDeviceToDevice };
  Kind kind = Kind::kHostToDevice;
  CUdeviceptr device = 0;  // for kDeviceToDevice the target
  CUdeviceptr from = 0;    // kDeviceToDevice
  void* host = nullptr;
  size_t bytes = 0;
  std::vector<std::byte> staged;  // pageable memory as it was when issued
};
struct FakeFillOp {
  CUdeviceptr address = 0;
  unsigned char value = 0;
  size_t bytes = 0;
};
struct FakeOp {
  std::variant<FakeKernelOp, FakeCopyOp, FakeFillOp> what;
  std::vector<size_t> after;  // in a graph: nodes before it
};

// A point in a stream: an event, or the end of a graph.
struct FakeMark {
  bool done = false;
  int64_t time = 0;  // ns
};

struct FakeWork {
  std::shared_ptr<const std::vector<FakeOp>> ops;  // null: a point or a wait
  bool graph = false;
  std::shared_ptr<FakeMark> end;                    // null: nobody asks
  std::vector<std::shared_ptr<FakeMark>> wait_for;  // done before it starts
};

struct FakeCapture {
  uint64_t thread = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CUstream origin = nullptr;
  bool invalid = false;
  std::vector<FakeOp> nodes;
};

struct FakeStream {
  CUcontext context = nullptr;
  unsigned flags = 0;
  std::deque<FakeWork> queue;
  int permits = 0;   // work that may be done in manual mode
  int64_t time = 0;  // ns, when all that was done is over
  std::shared_ptr<FakeCapture> capture;
  std::set<size_t> frontier;  // last nodes in the capture
};

struct FakeEvent {
  CUcontext context = nullptr;
  unsigned flags = 0;
  std::shared_ptr<FakeMark> mark;  // null: never recorded
  std::shared_ptr<FakeCapture> capture;
  std::set<size_t> frontier;
};

struct FakeGraph {
  std::shared_ptr<const std::vector<FakeOp>> ops;
  std::vector<CUgraphNode> nodes;
};

struct FakeExec {
  std::shared_ptr<const std::vector<FakeOp>> ops;
  CUcontext context = nullptr;
  bool uploaded = false;
  int device = 0;
  size_t bytes = 0;
  std::shared_ptr<FakeMark> last;  // end of the last launch
};

struct FakeKernelEntry {
  std::vector<size_t> sizes;
  FakeCuda::Kernel run;
};

// Objects by handle. Handles are never used again.
template <typename Handle, typename T>
using FakeTable = std::map<Handle, T>;

// Threads: under the lock of its FakeCuda.
struct FakeCudaState {
  std::vector<FakeGpu> gpus;
  std::vector<size_t> used;   // bytes, by device
  std::vector<size_t> other;  // other processes'
  bool initialised = false;

  FakeTable<CUcontext, int> context_devices;  // handle to ordinal
  std::vector<FakeContext> contexts;          // by ordinal
  std::map<uint64_t, CUcontext> current;      // by thread

  std::map<CUdeviceptr, FakeAllocation> device_memory;
  std::map<uintptr_t, size_t> pinned;
  std::map<CUdeviceptr, FakeReservation> reservations;
  std::map<CUdeviceptr, FakeMapping> mappings;
  FakeTable<CUmemGenericAllocationHandle, FakePhysical> physical;

  FakeTable<CUstream, FakeStream> streams;
  FakeTable<CUevent, FakeEvent> events;
  FakeTable<CUmodule, FakeModule> modules;
  FakeTable<CUfunction, FakeFunction> functions;
  FakeTable<CUgraph, FakeGraph> graphs;
  FakeTable<CUgraphNode, CUgraphNodeType> nodes;
  FakeTable<CUgraphExec, FakeExec> execs;
  std::vector<std::shared_ptr<FakeCapture>> captures;  // open ones
  uintptr_t last_handle = 0x1000;

  std::map<std::string, FakeKernelEntry> kernels;
  std::set<std::string> hidden;
  std::set<std::string> held;
  std::map<std::string, CUresult> faults;
  std::map<std::string, int64_t> kernel_ns;
  int64_t copy_ns = 1000;
  int64_t now = 0;
  size_t graph_bytes = 0;
  bool manual = false;
  // The call that is being made is to fail, and only ends what it ends.
  bool failing = false;

  std::vector<FakeLaunch> launches;
  std::vector<std::string> misuses;
  int all_calls = 0;
  std::map<std::string, int> calls;
  std::map<int, CUresult> fail_calls;  // by the number of the call over all
  std::map<std::pair<std::string, int>, CUresult> fail_at;

  template <typename Handle>
  Handle NewHandle() {
    last_handle += 16;
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<Handle>(last_handle);
    } else {
      return static_cast<Handle>(last_handle);
    }
  }

  CUresult Misuse(CUresult result, const std::string& text) {
    misuses.push_back(text);
    return result;
  }

  // The object of a handle; null, and a misuse noted, where there is none.
  template <typename Handle, typename T>
  T* Find(FakeTable<Handle, T>& table, Handle handle, const char* what) {
    const auto it = table.find(handle);
    if (it != table.end()) return &it->second;
    misuses.push_back(
        absl::StrCat(what, handle == Handle{} ? ": null" : ": unknown handle"));
    return nullptr;
  }

  // The thread's current context; null, and a misuse noted, where it has none.
  CUcontext CurrentContext(const char* what);
  // As Find, of the current context only.
  FakeStream* FindStream(CUstream stream, const char* what);
  FakeEvent* FindEvent(CUevent event, const char* what);

  // Whether this thread may make calls that a capture forbids; else the open
  // capture is invalid.
  bool MayDoUnsafe(const char* what);

  size_t FreeBytes(int device) const;
  // Host memory of a stretch of the device's, or of pinned memory; null: not
  // all of it is there.
  void* Resolve(CUdeviceptr address, size_t bytes) const;
  // Whether the whole stretch lies in one pinned allocation.
  bool IsPinned(const void* host, size_t bytes) const;

  // Adds to the stream's queue or to its capture, and does what can be done.
  CUresult Issue(FakeStream& stream, FakeOp op);
  void Enqueue(FakeStream& stream, FakeWork work);
  // Gives the host back what was never freed.
  void FreeAll();

  // Does all work that may be done.
  void Pump();

 private:
  bool Ready(const FakeStream& stream) const;
  bool Held(const FakeWork& work) const;
  void RunHead(CUstream handle, FakeStream& stream);
  // `at`: ns, when it begins.
  void RunOp(const FakeOp& op, CUstream handle, bool graph, int64_t at);
  void RunKernel(const FakeKernelOp& op, CUstream handle, bool graph,
                 int64_t at);
  FakeCuda::Kernel KernelOf(const FakeKernelOp& op) const;
  void RunCopy(const FakeCopyOp& op);
  int64_t TimeOf(const FakeOp& op) const;
};

// A number for the calling thread, never used again.
uint64_t FakeThread();

// The functions of the table: FakeMemAlloc, of cuMemAlloc's type, and so on.
#define REPRISE_FAKE_DECLARE(name) \
  std::remove_pointer_t<decltype(cuda::Driver::name)> Fake##name;
REPRISE_CUDA_FUNCTIONS(REPRISE_FAKE_DECLARE)
#undef REPRISE_FAKE_DECLARE

}  // namespace reprise::testing
