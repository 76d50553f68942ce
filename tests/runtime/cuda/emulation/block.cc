#include "tests/runtime/cuda/emulation/block.h"

#include <dlfcn.h>
#include <ucontext.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/runtime/cuda/emulation/device_code.h"

namespace reprise::emulation {

Thread current;

namespace {

constexpr size_t kStackBytes = 64 * 1024;
constexpr unsigned kWarp = 32;

// A struct of N bytes: like any of more than 16, it is passed in memory.
template <size_t N>
struct Blob {
  std::array<uint64_t, N / 8> words;
};

template <size_t N, typename... Pointers>
void CallWith(void* kernel, const std::vector<std::byte>& params,
              Pointers... pointers) {
  Blob<N> blob;
  std::memcpy(&blob, params.data(), N);
  reinterpret_cast<void (*)(Pointers..., Blob<N>)>(kernel)(pointers..., blob);
}

template <size_t N>
bool CallSized(void* kernel, std::span<void* const> p,
               const std::vector<std::byte>& params) {
  if (params.size() != N) return false;
  switch (p.size()) {
    case 1:
      CallWith<N>(kernel, params, p[0]);
      return true;
    case 2:
      CallWith<N>(kernel, params, p[0], p[1]);
      return true;
    case 3:
      CallWith<N>(kernel, params, p[0], p[1], p[2]);
      return true;
    case 4:
      CallWith<N>(kernel, params, p[0], p[1], p[2], p[3]);
      return true;
    case 6:
      CallWith<N>(kernel, params, p[0], p[1], p[2], p[3], p[4], p[5]);
      return true;
    default:
      return false;
  }
}

// The sizes of the structs in kernels/params.h.
template <size_t... kSizes>
bool CallAny(void* kernel, std::span<void* const> pointers,
             const std::vector<std::byte>& params) {
  return (CallSized<kSizes>(kernel, pointers, params) || ...);
}
bool Call(void* kernel, std::span<void* const> pointers,
          const std::vector<std::byte>& params) {
  return CallAny<24, 32, 40, 48, 56, 296, 392, 592>(kernel, pointers, params);
}

// The threads of one block, which take turns: each runs until it waits for the
// others or ends. All of them meet the same barriers.
class Block {
 public:
  // `run` is one thread's work. Not for kernels that never wait.
  void Run(unsigned threads, const Index& block,
           absl::FunctionRef<void()> run) {
    run_ = &run;
    Reserve(threads);
    for (unsigned i = 0; i < threads; ++i) Start(i, block);
    for (bool alive = true; alive;) {
      alive = false;
      for (unsigned i = 0; i < threads; ++i) {
        if (fibers_[i]->done) continue;
        running_ = i;
        current.thread_index = fibers_[i]->index;
        swapcontext(&scheduler_, &fibers_[i]->context);
        alive = alive || !fibers_[i]->done;
      }
    }
  }

  void Wait() {
    const Fiber& fiber = *fibers_[running_];
    swapcontext(&fibers_[running_]->context, &scheduler_);
    current.thread_index = fiber.index;
  }

  void Exchange(const void* mine, void* theirs, unsigned size, int mask) {
    const unsigned self = running_;
    std::memcpy(fibers_[self]->value.data(), mine, size);
    Wait();
    const unsigned other =
        self / kWarp * kWarp + ((self % kWarp) ^ static_cast<unsigned>(mask));
    std::memcpy(theirs, fibers_[other]->value.data(), size);
    Wait();
  }

  static Block& Get() {
    static Block& block = *new Block();
    return block;
  }

 private:
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<std::byte[]> stack;
    Index index;
    bool done = true;
    std::array<std::byte, 16> value;
  };

  static void Enter() {
    Block& block = Get();
    (*block.run_)();
    block.fibers_[block.running_]->done = true;
  }

  void Reserve(unsigned threads) {
    while (fibers_.size() < threads) {
      fibers_.push_back(std::make_unique<Fiber>());
      fibers_.back()->stack = std::make_unique<std::byte[]>(kStackBytes);
    }
  }

  void Start(unsigned i, const Index& block) {
    Fiber& fiber = *fibers_[i];
    fiber.index = {i % block.x, i / block.x, 0};
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = &scheduler_;
    makecontext(&fiber.context, &Block::Enter, 0);
  }

  std::vector<std::unique_ptr<Fiber>> fibers_;
  ucontext_t scheduler_;
  unsigned running_ = 0;
  absl::FunctionRef<void()>* run_ = nullptr;
};

// Whether threads of the kernel wait for each other.
bool Waits(const std::string& entry) {
  return absl::StrContains(entry, "_team_") ||
         absl::StrContains(entry, "layer_norm") ||
         absl::StrContains(entry, "transpose") ||
         absl::StrContains(entry, "matmul");
}

}  // namespace

void Barrier() { Block::Get().Wait(); }

void Exchange(const void* mine, void* theirs, unsigned size, int mask) {
  Block::Get().Exchange(mine, theirs, size, mask);
}

absl::Status RunKernel(const cuda::KernelLaunch& launch,
                       std::span<void* const> pointers,
                       const std::vector<std::byte>& params) {
  void* const kernel = dlsym(RTLD_DEFAULT, launch.entry.c_str());
  if (kernel == nullptr) {
    return absl::NotFoundError(absl::StrCat("no kernel ", launch.entry));
  }
  const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
  current.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  current.block = {launch.block.x, launch.block.y, launch.block.z};
  bool called = true;
  const auto run = [&] { called = Call(kernel, pointers, params) && called; };
  for (unsigned z = 0; z < launch.grid.z; ++z) {
    for (unsigned y = 0; y < launch.grid.y; ++y) {
      for (unsigned x = 0; x < launch.grid.x; ++x) {
        current.block_index = {x, y, z};
        if (Waits(launch.entry)) {
          Block::Get().Run(threads, current.block, run);
          continue;
        }
        for (unsigned i = 0; i < threads; ++i) {
          current.thread_index = {i % launch.block.x, i / launch.block.x, 0};
          run();
        }
      }
    }
  }
  if (called) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(launch.entry, ": not called with ", pointers.size(),
                   " pointers and ", params.size(), " bytes"));
}

}  // namespace reprise::emulation
