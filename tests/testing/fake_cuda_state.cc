#include "tests/testing/fake_cuda_state.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

namespace reprise::testing {
namespace {

// Whether [address, address + bytes) lies in ranges of `map` that touch.
template <typename Map, typename Usable>
bool Covered(const Map& map, typename Map::key_type address, size_t bytes,
             Usable usable) {
  const auto end = address + bytes;
  while (true) {
    auto it = map.upper_bound(address);
    if (it == map.begin()) return false;
    --it;
    const auto range_end = it->first + it->second.bytes;
    if (range_end <= address || !usable(it->second)) return false;
    if (end <= range_end) return true;
    address = range_end;
  }
}

}  // namespace

uint64_t FakeThread() {
  static std::atomic<uint64_t> next = 1;
  thread_local const uint64_t id = next.fetch_add(1);
  return id;
}

CUcontext FakeCudaState::CurrentContext(const char* what) {
  const auto it = current.find(FakeThread());
  if (it == current.end() || it->second == nullptr) {
    misuses.push_back(absl::StrCat(what, ": no context is current"));
    return nullptr;
  }
  return it->second;
}

FakeStream* FakeCudaState::FindStream(CUstream stream, const char* what) {
  const CUcontext context = CurrentContext(what);
  FakeStream* const found = Find(streams, stream, what);
  if (found == nullptr || context == nullptr) return nullptr;
  if (found->context == context) return found;
  misuses.push_back(absl::StrCat(what, ": a stream of another context"));
  return nullptr;
}

FakeEvent* FakeCudaState::FindEvent(CUevent event, const char* what) {
  const CUcontext context = CurrentContext(what);
  FakeEvent* const found = Find(events, event, what);
  if (found == nullptr || context == nullptr) return nullptr;
  if (found->context == context) return found;
  misuses.push_back(absl::StrCat(what, ": an event of another context"));
  return nullptr;
}

bool FakeCudaState::MayDoUnsafe(const char* what) {
  for (const std::shared_ptr<FakeCapture>& capture : captures) {
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
    if (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
        capture->thread != FakeThread()) {
      continue;
    }
    capture->invalid = true;
    misuses.push_back(absl::StrCat(what, " during a capture"));
    return false;
  }
  return true;
}

size_t FakeCudaState::FreeBytes(int device) const {
  const auto i = static_cast<size_t>(device);
  const size_t taken = used[i] + other[i];
  return taken < gpus[i].total_memory ? gpus[i].total_memory - taken : 0;
}

void* FakeCudaState::Resolve(CUdeviceptr address, size_t bytes) const {
  const size_t least = std::max<size_t>(bytes, 1);
  if ((address & kDeviceBit) == 0) {
    void* const host = reinterpret_cast<void*>(address);
    return IsPinned(host, bytes) ? host : nullptr;
  }
  const auto any = [](const auto&) { return true; };
  const auto accessible = [](const FakeMapping& m) { return m.access; };
  // Different allocations may touch, but no pointer goes from one to the next.
  auto it = device_memory.upper_bound(address);
  const bool allocated =
      it != device_memory.begin() &&
      (--it, address - it->first <= it->second.bytes &&
                 least <= it->second.bytes - (address - it->first));
  if (!allocated && !(Covered(mappings, address, least, accessible) &&
                      Covered(reservations, address, least, any))) {
    return nullptr;
  }
  return reinterpret_cast<void*>(address & ~kDeviceBit);
}

bool FakeCudaState::IsPinned(const void* host, size_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(host);
  auto it = pinned.upper_bound(address);
  if (it == pinned.begin()) return false;
  --it;
  return address - it->first < it->second &&
         bytes <= it->second - (address - it->first);
}

CUresult FakeCudaState::Issue(FakeStream& stream, FakeOp op) {
  auto* const copy = std::get_if<FakeCopyOp>(&op.what);
  const bool pageable = copy != nullptr && copy->host != nullptr &&
                        !IsPinned(copy->host, copy->bytes);
  if (stream.capture != nullptr) {
    if (stream.capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (pageable) misuses.push_back("a captured copy of pageable memory");
    op.after.assign(stream.frontier.begin(), stream.frontier.end());
    stream.frontier = {stream.capture->nodes.size()};
    stream.capture->nodes.push_back(std::move(op));
    return CUDA_SUCCESS;
  }
  if (pageable && copy->kind == FakeCopyOp::Kind::kHostToDevice) {
    const auto* const bytes = static_cast<const std::byte*>(copy->host);
    copy->staged.assign(bytes, bytes + copy->bytes);
  }
  FakeWork work;
  work.ops = std::make_shared<const std::vector<FakeOp>>(1, std::move(op));
  Enqueue(stream, std::move(work));
  return CUDA_SUCCESS;
}

void FakeCudaState::Enqueue(FakeStream& stream, FakeWork work) {
  stream.queue.push_back(std::move(work));
  Pump();
}

bool FakeCudaState::Held(const FakeWork& work) const {
  return std::any_of(
      work.ops->begin(), work.ops->end(), [this](const FakeOp& op) {
        const auto* const kernel = std::get_if<FakeKernelOp>(&op.what);
        return kernel != nullptr && held.contains(kernel->launch.name);
      });
}

bool FakeCudaState::Ready(const FakeStream& stream) const {
  if (stream.queue.empty()) return false;
  const FakeWork& head = stream.queue.front();
  for (const std::shared_ptr<FakeMark>& mark : head.wait_for) {
    if (!mark->done) return false;
  }
  if (head.ops == nullptr) return true;
  return (!manual || stream.permits > 0) && !Held(head);
}

void FakeCudaState::Pump() {
  bool again = true;
  while (again) {
    again = false;
    for (auto& [handle, stream] : streams) {
      while (Ready(stream)) {
        RunHead(handle, stream);
        again = true;
      }
    }
  }
}

int64_t FakeCudaState::TimeOf(const FakeOp& op) const {
  const auto* const kernel = std::get_if<FakeKernelOp>(&op.what);
  if (kernel == nullptr) return copy_ns;
  const auto it = kernel_ns.find(kernel->launch.name);
  return it != kernel_ns.end() ? it->second : 1000;
}

void FakeCudaState::RunHead(CUstream handle, FakeStream& stream) {
  FakeWork work = std::move(stream.queue.front());
  stream.queue.pop_front();
  for (const std::shared_ptr<FakeMark>& mark : work.wait_for) {
    stream.time = std::max(stream.time, mark->time);
  }
  if (work.ops != nullptr) {
    if (stream.permits > 0) --stream.permits;
    const int64_t start = std::max(stream.time, now);
    std::vector<int64_t> ends;
    for (const FakeOp& op : *work.ops) {
      int64_t begin = start;
      for (const size_t node : op.after) begin = std::max(begin, ends[node]);
      ends.push_back(begin + TimeOf(op));
      RunOp(op, handle, work.graph, begin);
    }
    stream.time = start;
    for (const int64_t end : ends) stream.time = std::max(stream.time, end);
  }
  if (work.end != nullptr) {
    work.end->done = true;
    work.end->time = std::max(stream.time, now);
  }
}

void FakeCudaState::RunOp(const FakeOp& op, CUstream handle, bool graph,
                          int64_t at) {
  const int device = context_devices.at(streams.at(handle).context);
  if (contexts[static_cast<size_t>(device)].error != CUDA_SUCCESS) return;
  if (const auto* kernel = std::get_if<FakeKernelOp>(&op.what)) {
    RunKernel(*kernel, handle, graph, at);
  } else if (const auto* copy = std::get_if<FakeCopyOp>(&op.what)) {
    RunCopy(*copy);
  } else {
    const auto& fill = std::get<FakeFillOp>(op.what);
    void* const target = Resolve(fill.address, fill.bytes);
    if (target == nullptr) {
      misuses.push_back("a fill of memory that is not there any more");
    } else {
      std::memset(target, fill.value, fill.bytes);
    }
  }
}

FakeCuda::Kernel FakeCudaState::KernelOf(const FakeKernelOp& op) const {
  if (op.run != nullptr) return op.run;
  const auto it = kernels.find(op.launch.name);
  return it != kernels.end() ? it->second.run : nullptr;
}

void FakeCudaState::RunKernel(const FakeKernelOp& op, CUstream handle,
                              bool graph, int64_t at) {
  FakeLaunch launch = op.launch;
  launch.stream = handle;
  launch.nanoseconds = at;
  launch.in_graph = graph;
  launch.device = context_devices.at(streams.at(handle).context);
  if (op.run == nullptr && !functions.contains(op.function)) {
    misuses.push_back(absl::StrCat("kernel ", launch.name,
                                   " runs, and its module is unloaded"));
  }
  if (const auto fault = faults.find(launch.name); fault != faults.end()) {
    contexts[static_cast<size_t>(launch.device)].error = fault->second;
  } else if (const FakeCuda::Kernel run = KernelOf(op); run != nullptr) {
    run(FakeKernelCall(
        launch, [this, &launch](CUdeviceptr address, size_t bytes) {
          void* const host = Resolve(address, bytes);
          if (host == nullptr) {
            misuses.push_back(absl::StrCat("kernel ", launch.name,
                                           " uses memory that is not there"));
          }
          return host;
        }));
  }
  launches.push_back(std::move(launch));
}

void FakeCudaState::RunCopy(const FakeCopyOp& op) {
  void* const device = Resolve(op.device, op.bytes);
  const void* from = device;
  void* to = op.host;
  if (op.kind == FakeCopyOp::Kind::kHostToDevice) {
    from = op.staged.empty() ? op.host : op.staged.data();
    to = device;
  } else if (op.kind == FakeCopyOp::Kind::kDeviceToDevice) {
    from = Resolve(op.from, op.bytes);
    to = device;
  }
  if (device == nullptr || from == nullptr) {
    misuses.push_back("a copy of memory that is not there any more");
    return;
  }
  std::memmove(to, from, op.bytes);
}

}  // namespace reprise::testing
