#include "tests/testing/fake_cuda.h"

#include <atomic>
#include <utility>

#include "tests/testing/fake_cuda_state.h"

namespace reprise::testing {
namespace {

std::atomic<FakeCuda*> current_fake = nullptr;

#define REPRISE_FAKE_STRING_INNER(text) #text
#define REPRISE_FAKE_STRING(text) REPRISE_FAKE_STRING_INNER(text)

cuda::Driver FakeTableOfAll() {
  cuda::Driver driver;
#define REPRISE_FAKE_SET(name) driver.name = Fake##name;
  REPRISE_CUDA_FUNCTIONS(REPRISE_FAKE_SET)
#undef REPRISE_FAKE_SET
  return driver;
}

// Calls that a context's error does not reach.
bool KnowsNoContext(absl::string_view function) {
  return function == "Init" || function.substr(0, 6) == "Device" ||
         function == "DriverGetVersion" || function == "CtxSetCurrent" ||
         function == "CtxGetCurrent";
}

CUresult ContextError(const FakeCudaState& state, const char* function) {
  if (KnowsNoContext(function)) return CUDA_SUCCESS;
  const auto current = state.current.find(FakeThread());
  if (current == state.current.end()) return CUDA_SUCCESS;
  const auto device = state.context_devices.find(current->second);
  if (device == state.context_devices.end()) return CUDA_SUCCESS;
  return state.contexts[static_cast<size_t>(device->second)].error;
}

}  // namespace

FakeCuda::FakeCuda(std::vector<FakeGpu> gpus)
    : driver_(FakeTableOfAll()),
      before_(current_fake.load()),
      state_(std::make_unique<FakeCudaState>()) {
  absl::MutexLock lock(&mu_);
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].uuid == std::array<unsigned char, 16>{}) {
      gpus[i].uuid[15] = static_cast<unsigned char>(i);
    }
  }
  state_->used.resize(gpus.size());
  state_->other.resize(gpus.size());
  state_->contexts.resize(gpus.size());
  state_->gpus = std::move(gpus);
  current_fake.store(this);
}

FakeCuda::~FakeCuda() {
  absl::MutexLock lock(&mu_);
  state_->FreeAll();
  current_fake.store(before_);
}

FakeCuda& FakeCuda::Current() { return *current_fake.load(); }

void* FakeCuda::Symbol(absl::string_view symbol) const {
#define REPRISE_FAKE_SYMBOL(name)                 \
  if (symbol == REPRISE_FAKE_STRING(cu##name)) {  \
    return reinterpret_cast<void*>(driver_.name); \
  }
  REPRISE_CUDA_FUNCTIONS(REPRISE_FAKE_SYMBOL)
#undef REPRISE_FAKE_SYMBOL
  return nullptr;
}

CUresult FakeCuda::Injected(const char* function) {
  FakeCudaState& state = *state_;
  const int all = ++state.all_calls;
  const int own = ++state.calls[function];
  if (const auto it = state.fail_calls.find(all);
      it != state.fail_calls.end()) {
    return it->second;
  }
  const auto it = state.fail_at.find({function, own});
  return it != state.fail_at.end() ? it->second : CUDA_SUCCESS;
}

CUresult FakeCuda::Call(const char* function, bool always,
                        const std::function<CUresult(FakeCudaState&)>& body) {
  absl::MutexLock lock(&mu_);
  CUresult failure = Injected(function);
  if (failure == CUDA_SUCCESS) failure = ContextError(*state_, function);
  if (failure != CUDA_SUCCESS && !always) return failure;
  state_->failing = failure != CUDA_SUCCESS;
  const CUresult result = body(*state_);
  return failure != CUDA_SUCCESS ? failure : result;
}

CUresult FakeCuda::Synchronize(CUstream stream) {
  absl::MutexLock lock(&mu_);
  CUresult failure = Injected("StreamSynchronize");
  if (failure == CUDA_SUCCESS) {
    failure = ContextError(*state_, "StreamSynchronize");
  }
  if (failure != CUDA_SUCCESS) return failure;
  const FakeStream* const found =
      state_->FindStream(stream, "StreamSynchronize");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (found->capture != nullptr) {
    found->capture->invalid = true;
    return state_->Misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "StreamSynchronize of a stream in capture");
  }
  const auto done = [this, stream]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto it = state_->streams.find(stream);
    return it == state_->streams.end() || it->second.queue.empty();
  };
  mu_.Await(absl::Condition(&done));
  return ContextError(*state_, "StreamSynchronize");
}

CUresult FakeCuda::LaunchOwn(CUstream stream, FakeLaunch launch, Kernel run) {
  absl::MutexLock lock(&mu_);
  const CUresult error = ContextError(*state_, "LaunchOwn");
  if (error != CUDA_SUCCESS) return error;
  FakeStream* const found = state_->FindStream(stream, "LaunchOwn");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  FakeKernelOp op;
  op.launch = std::move(launch);
  op.run = std::move(run);
  return state_->Issue(*found, FakeOp{std::move(op), {}});
}

FakeCudaCounts FakeCuda::live() const {
  absl::MutexLock lock(&mu_);
  const FakeCudaState& state = *state_;
  FakeCudaCounts counts;
  for (const FakeContext& context : state.contexts) {
    counts.contexts += context.retained > 0 ? 1 : 0;
  }
  counts.streams = static_cast<int>(state.streams.size());
  counts.events = static_cast<int>(state.events.size());
  counts.modules = static_cast<int>(state.modules.size());
  counts.graphs = static_cast<int>(state.graphs.size());
  counts.execs = static_cast<int>(state.execs.size());
  counts.device_allocations = static_cast<int>(state.device_memory.size());
  counts.pinned_allocations = static_cast<int>(state.pinned.size());
  counts.reservations = static_cast<int>(state.reservations.size());
  counts.physical = static_cast<int>(state.physical.size());
  counts.mappings = static_cast<int>(state.mappings.size());
  return counts;
}

std::vector<std::string> FakeCuda::misuses() const {
  absl::MutexLock lock(&mu_);
  return state_->misuses;
}

int FakeCuda::calls() const {
  absl::MutexLock lock(&mu_);
  return state_->all_calls;
}

int FakeCuda::calls(const std::string& function) const {
  absl::MutexLock lock(&mu_);
  const auto it = state_->calls.find(function);
  return it != state_->calls.end() ? it->second : 0;
}

std::vector<FakeLaunch> FakeCuda::launches() const {
  absl::MutexLock lock(&mu_);
  return state_->launches;
}

void FakeCuda::ClearLaunches() {
  absl::MutexLock lock(&mu_);
  state_->launches.clear();
}

void* FakeCuda::Host(CUdeviceptr address, size_t bytes) {
  absl::MutexLock lock(&mu_);
  void* const host = state_->Resolve(address, bytes);
  if (host == nullptr) {
    state_->Misuse(CUDA_ERROR_INVALID_VALUE,
                   absl::StrCat("Host: ", bytes, " bytes that are not there"));
  }
  return host;
}

void FakeCuda::SetFree(int device, size_t bytes) {
  absl::MutexLock lock(&mu_);
  const auto i = static_cast<size_t>(device);
  const size_t taken = state_->used[i] + bytes;
  const size_t total = state_->gpus[i].total_memory;
  state_->other[i] = taken < total ? total - taken : 0;
}

size_t FakeCuda::Free(int device) const {
  absl::MutexLock lock(&mu_);
  return state_->FreeBytes(device);
}

void FakeCuda::SetGraphBytes(size_t bytes) {
  absl::MutexLock lock(&mu_);
  state_->graph_bytes = bytes;
}

void FakeCuda::AddKernel(const std::string& name,
                         std::vector<size_t> argument_sizes, Kernel run) {
  absl::MutexLock lock(&mu_);
  state_->kernels[name] =
      FakeKernelEntry{std::move(argument_sizes), std::move(run)};
}

void FakeCuda::HideKernel(const std::string& name) {
  absl::MutexLock lock(&mu_);
  state_->hidden.insert(name);
}

void FakeCuda::FaultKernel(const std::string& name, CUresult error) {
  absl::MutexLock lock(&mu_);
  state_->faults[name] = error;
}

void FakeCuda::HoldKernel(const std::string& name, bool held) {
  absl::MutexLock lock(&mu_);
  if (held) {
    state_->held.insert(name);
  } else {
    state_->held.erase(name);
  }
  state_->Pump();
}

void FakeCuda::FailAt(const std::string& function, int n, CUresult result) {
  absl::MutexLock lock(&mu_);
  state_->fail_at[{function, state_->calls[function] + n}] = result;
}

void FakeCuda::FailCall(int n, CUresult result) {
  absl::MutexLock lock(&mu_);
  state_->fail_calls[state_->all_calls + n] = result;
}

void FakeCuda::SetManual(bool manual) {
  absl::MutexLock lock(&mu_);
  state_->manual = manual;
  state_->Pump();
}

bool FakeCuda::CompleteNext(CUstream stream) {
  absl::MutexLock lock(&mu_);
  const auto it = state_->streams.find(stream);
  if (it == state_->streams.end()) return false;
  it->second.permits = 1;
  state_->Pump();
  return std::exchange(it->second.permits, 0) == 0;
}

void FakeCuda::CompleteAll() {
  absl::MutexLock lock(&mu_);
  const bool manual = std::exchange(state_->manual, false);
  state_->Pump();
  state_->manual = manual;
}

void FakeCuda::AwaitPending(CUstream stream) {
  const auto pending = [this, stream]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto it = state_->streams.find(stream);
    return it != state_->streams.end() && !it->second.queue.empty();
  };
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&pending));
}

void FakeCuda::Advance(absl::Duration duration) {
  absl::MutexLock lock(&mu_);
  state_->now += absl::ToInt64Nanoseconds(duration);
}

void FakeCuda::SetKernelTime(const std::string& name, absl::Duration time) {
  absl::MutexLock lock(&mu_);
  state_->kernel_ns[name] = absl::ToInt64Nanoseconds(time);
}

void FakeCuda::SetCopyTime(absl::Duration time) {
  absl::MutexLock lock(&mu_);
  state_->copy_ns = absl::ToInt64Nanoseconds(time);
}

}  // namespace reprise::testing
