#include "tests/testing/fake_cuda.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "runtime/cuda/driver.h"

namespace reprise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A context that is current, a stream, and pinned memory of 64 bytes.
class FakeCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(d_.Init(0), CUDA_SUCCESS);
    ASSERT_EQ(d_.DevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(d_.CtxSetCurrent(context_), CUDA_SUCCESS);
    stream_ = NewStream();
    void* pinned = nullptr;
    ASSERT_EQ(d_.MemHostAlloc(&pinned, 64, 0), CUDA_SUCCESS);
    pinned_ = static_cast<char*>(pinned);
    ASSERT_EQ(d_.ModuleLoadData(&module_, "image"), CUDA_SUCCESS);
  }

  CUstream NewStream() {
    CUstream stream = nullptr;
    EXPECT_EQ(d_.StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0),
              CUDA_SUCCESS);
    return stream;
  }
  CUevent NewEvent() {
    CUevent event = nullptr;
    EXPECT_EQ(d_.EventCreate(&event, 0), CUDA_SUCCESS);
    return event;
  }
  CUdeviceptr NewMemory(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(d_.MemAlloc(&address, bytes), CUDA_SUCCESS);
    return address;
  }
  // Null: the module does not have it.
  CUfunction Find(absl::string_view name) {
    unsigned count = 0;
    EXPECT_EQ(d_.ModuleGetFunctionCount(&count, module_), CUDA_SUCCESS);
    std::vector<CUfunction> functions(count);
    EXPECT_EQ(d_.ModuleEnumerateFunctions(functions.data(), count, module_),
              CUDA_SUCCESS);
    for (const CUfunction function : functions) {
      const char* found = nullptr;
      EXPECT_EQ(d_.FuncGetName(&found, function), CUDA_SUCCESS);
      if (name == found) return function;
    }
    return nullptr;
  }
  CUfunction Function(const char* name) {
    if (Find(name) == nullptr) cuda_.AddKernel(name, {});
    const CUfunction function = Find(name);
    EXPECT_EQ(d_.FuncLoad(function), CUDA_SUCCESS);
    return function;
  }
  CUresult Launch(CUfunction function, CUstream stream,
                  std::vector<void*> arguments = {}) {
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32;
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    return d_.LaunchKernelEx(&config, function, arguments.data(), nullptr);
  }
  CUgraphExec Instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
    EXPECT_EQ(d_.GraphInstantiateWithParams(&exec, graph, &params),
              CUDA_SUCCESS);
    return exec;
  }

  FakeCuda cuda_{{FakeGpu{}, FakeGpu{}}};
  const cuda::Driver& d_ = cuda_.driver();
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  char* pinned_ = nullptr;
  CUmodule module_ = nullptr;
};

TEST_F(FakeCudaTest, EveryFunctionOfTheTableIsThere) {
#define REPRISE_EXPECT(name) EXPECT_NE(d_.name, nullptr) << #name;
  REPRISE_CUDA_FUNCTIONS(REPRISE_EXPECT)
#undef REPRISE_EXPECT
  EXPECT_EQ(cuda_.Symbol("cuMemAlloc_v2"),
            reinterpret_cast<void*>(d_.MemAlloc));
}

TEST_F(FakeCudaTest, CopiesAndFillsMoveBytes) {
  const CUdeviceptr a = NewMemory(16);
  const CUdeviceptr b = NewMemory(16);
  std::memcpy(pinned_, "0123456789abcdef", 16);
  EXPECT_EQ(d_.MemcpyHtoDAsync(a, pinned_, 16, stream_), CUDA_SUCCESS);
  EXPECT_EQ(d_.MemsetD8Async(a + 4, 'x', 2, stream_), CUDA_SUCCESS);
  EXPECT_EQ(d_.MemcpyDtoDAsync(b, a, 16, stream_), CUDA_SUCCESS);
  EXPECT_EQ(d_.MemcpyDtoHAsync(pinned_ + 16, b, 16, stream_), CUDA_SUCCESS);
  EXPECT_EQ(d_.StreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(std::string(pinned_ + 16, 16), "0123xx6789abcdef");
  EXPECT_EQ(std::memcmp(cuda_.Host(b, 16), "0123xx", 6), 0);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
}

TEST_F(FakeCudaTest, CopiesOutOfRangeAndFreedMemoryAreMisuses) {
  const CUdeviceptr a = NewMemory(16);
  EXPECT_NE(d_.MemcpyHtoDAsync(a + 8, pinned_, 16, stream_), CUDA_SUCCESS);
  EXPECT_EQ(d_.MemFree(a), CUDA_SUCCESS);
  EXPECT_NE(d_.MemcpyHtoDAsync(a, pinned_, 16, stream_), CUDA_SUCCESS);
  EXPECT_NE(d_.MemFree(a), CUDA_SUCCESS);
  EXPECT_NE(d_.MemsetD8Async(a, 0, 1, nullptr), CUDA_SUCCESS);
  EXPECT_THAT(cuda_.misuses(),
              ElementsAre(HasSubstr("16 bytes"), HasSubstr("16 bytes"),
                          HasSubstr("MemFree"), HasSubstr("null")));
}

TEST_F(FakeCudaTest, WhatIsDestroyedTwiceIsAMisuse) {
  const CUevent event = NewEvent();
  EXPECT_EQ(d_.EventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(d_.EventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_THAT(cuda_.misuses(), ElementsAre(HasSubstr("EventDestroy")));
}

TEST_F(FakeCudaTest, MappedRangesAreMemoryAcrossChunks) {
  constexpr size_t kChunk = size_t{2} << 20;
  CUdeviceptr range = 0;
  ASSERT_EQ(d_.MemAddressReserve(&range, 4 * kChunk, 0, 0, 0), CUDA_SUCCESS);
  CUmemAllocationProp prop = {};
  CUmemAccessDesc access = {};
  CUmemGenericAllocationHandle chunks[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    const CUdeviceptr at = range + i * kChunk;
    ASSERT_EQ(d_.MemCreate(&chunks[i], kChunk, &prop, 0), CUDA_SUCCESS);
    ASSERT_EQ(d_.MemMap(at, kChunk, 0, chunks[i], 0), CUDA_SUCCESS);
    ASSERT_EQ(d_.MemSetAccess(at, kChunk, &access, 1), CUDA_SUCCESS);
  }
  EXPECT_EQ(d_.MemsetD8Async(range + kChunk - 4, 7, 8, stream_), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<char*>(cuda_.Host(range + kChunk, 4))[3], 7);
  EXPECT_EQ(cuda_.Free(0), (size_t{1} << 30) - 2 * kChunk);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
  EXPECT_NE(d_.MemsetD8Async(range + 2 * kChunk - 4, 7, 8, stream_),
            CUDA_SUCCESS);
  EXPECT_NE(d_.MemAddressFree(range, 4 * kChunk), CUDA_SUCCESS);
  EXPECT_EQ(d_.MemUnmap(range, 2 * kChunk), CUDA_SUCCESS);
  for (const auto chunk : chunks) {
    EXPECT_EQ(d_.MemRelease(chunk), CUDA_SUCCESS);
  }
  EXPECT_EQ(d_.MemAddressFree(range, 4 * kChunk), CUDA_SUCCESS);
  EXPECT_EQ(cuda_.Free(0), size_t{1} << 30);
  EXPECT_EQ(cuda_.live().mappings + cuda_.live().physical, 0);
}

TEST_F(FakeCudaTest, MemoryRunsOutWithoutAMisuse) {
  cuda_.SetFree(0, 100);
  CUdeviceptr address = 0;
  EXPECT_EQ(d_.MemAlloc(&address, 101), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(d_.MemAlloc(&address, 100), CUDA_SUCCESS);
  EXPECT_EQ(cuda_.Free(0), 0u);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
}

TEST_F(FakeCudaTest, CapturedGraphReplaysWhatWasIssued) {
  cuda_.AddKernel("add_one", {sizeof(CUdeviceptr), sizeof(int)},
                  [](const FakeKernelCall& call) {
                    const int n = call.Value<int>(1);
                    char* data = call.Pointer<char>(0, static_cast<size_t>(n));
                    for (int i = 0; i < n; ++i) ++data[i];
                  });
  CUdeviceptr memory = NewMemory(4);
  const CUfunction function = Function("add_one");
  ASSERT_EQ(d_.StreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  EXPECT_EQ(d_.MemcpyHtoDAsync(memory, pinned_, 4, stream_), CUDA_SUCCESS);
  int n = 4;
  EXPECT_EQ(Launch(function, stream_, {&memory, &n}), CUDA_SUCCESS);
  EXPECT_EQ(d_.MemcpyDtoHAsync(pinned_ + 4, memory, 4, stream_), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(d_.StreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  EXPECT_THAT(cuda_.launches(), IsEmpty());

  size_t count = 0;
  EXPECT_EQ(d_.GraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3u);
  const CUgraphExec exec = Instantiate(graph);
  for (const char* text : {"abcd", "1234"}) {
    std::memcpy(pinned_, text, 4);
    EXPECT_EQ(d_.GraphLaunch(exec, stream_), CUDA_SUCCESS);
  }
  EXPECT_EQ(std::string(pinned_ + 4, 4), "2345");
  ASSERT_EQ(cuda_.launches().size(), 2u);
  EXPECT_TRUE(cuda_.launches()[1].in_graph);
  EXPECT_EQ(d_.GraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(d_.GraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
}

TEST_F(FakeCudaTest, AllocatingInACaptureSpoilsIt) {
  ASSERT_EQ(d_.StreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(d_.MemAlloc(&memory, 1), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  EXPECT_EQ(d_.StreamEndCapture(stream_, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_THAT(cuda_.misuses(), ElementsAre("MemAlloc during a capture"));
  EXPECT_EQ(d_.MemAlloc(&memory, 1), CUDA_SUCCESS);
}

TEST_F(FakeCudaTest, AllocatingOnAnotherThreadLeavesAThreadLocalCaptureAlone) {
  ASSERT_EQ(d_.StreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  {
    const Thread other("other", [this] {
      EXPECT_EQ(d_.CtxSetCurrent(context_), CUDA_SUCCESS);
      EXPECT_EQ(d_.MemFree(NewMemory(8)), CUDA_SUCCESS);
    });
  }
  CUgraph graph = nullptr;
  EXPECT_EQ(d_.StreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  EXPECT_EQ(d_.GraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
}

TEST_F(FakeCudaTest, BranchesOfACaptureMustJoin) {
  const CUstream side = NewStream();
  const CUevent fork = NewEvent();
  const CUevent join = NewEvent();
  const CUdeviceptr memory = NewMemory(8);
  for (const bool joined : {true, false}) {
    d_.StreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    d_.MemsetD8Async(memory, 0, 8, stream_);
    d_.EventRecord(fork, stream_);
    d_.StreamWaitEvent(side, fork, 0);
    d_.MemsetD8Async(memory, 1, 4, side);
    d_.MemsetD8Async(memory + 4, 1, 4, stream_);
    d_.EventRecord(join, side);
    if (joined) d_.StreamWaitEvent(stream_, join, 0);
    CUgraph graph = nullptr;
    EXPECT_EQ(d_.StreamEndCapture(stream_, &graph),
              joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    if (!joined) break;
    // Two of the three run side by side.
    const CUgraphExec exec = Instantiate(graph);
    const CUevent begin = NewEvent();
    const CUevent end = NewEvent();
    d_.EventRecord(begin, stream_);
    d_.GraphLaunch(exec, stream_);
    d_.EventRecord(end, stream_);
    float milliseconds = 0;
    EXPECT_EQ(d_.EventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
    EXPECT_FLOAT_EQ(milliseconds, 0.002f);
  }
}

TEST_F(FakeCudaTest, ManualWorkIsDoneWhenTheTestSaysSo) {
  cuda_.SetManual(true);
  const CUstream copies = NewStream();
  const CUdeviceptr memory = NewMemory(4);
  const CUevent copied = NewEvent();
  std::memcpy(pinned_, "abcd", 4);
  d_.MemcpyHtoDAsync(memory, pinned_, 4, copies);
  d_.EventRecord(copied, copies);
  d_.StreamWaitEvent(stream_, copied, 0);
  Launch(Function("work"), stream_);
  EXPECT_EQ(d_.EventQuery(copied), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(d_.StreamQuery(stream_), CUDA_ERROR_NOT_READY);
  EXPECT_FALSE(cuda_.CompleteNext(stream_));  // waits for the copy
  EXPECT_TRUE(cuda_.CompleteNext(copies));
  EXPECT_EQ(d_.EventQuery(copied), CUDA_SUCCESS);
  EXPECT_THAT(cuda_.launches(), IsEmpty());
  EXPECT_TRUE(cuda_.CompleteNext(stream_));
  EXPECT_EQ(cuda_.launches().size(), 1u);
  EXPECT_EQ(d_.StreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
}

TEST_F(FakeCudaTest, SynchronizeBlocksUntilHeldWorkIsReleased) {
  cuda_.HoldKernel("endless", true);
  Launch(Function("endless"), stream_);
  EXPECT_EQ(d_.StreamQuery(stream_), CUDA_ERROR_NOT_READY);
  {
    const Thread waiter("waiter", [this] {
      EXPECT_EQ(d_.CtxSetCurrent(context_), CUDA_SUCCESS);
      EXPECT_EQ(d_.StreamSynchronize(stream_), CUDA_SUCCESS);
    });
    cuda_.HoldKernel("endless", false);
  }
  EXPECT_EQ(cuda_.launches().size(), 1u);
}

TEST_F(FakeCudaTest, StreamsHaveTimesOfTheirOwn) {
  const CUstream other = NewStream();
  const CUevent begin = NewEvent();
  const CUevent end = NewEvent();
  cuda_.SetKernelTime("slow", absl::Milliseconds(3));
  d_.EventRecord(begin, other);
  Launch(Function("slow"), stream_);
  Launch(Function("quick"), other);
  d_.EventRecord(end, other);
  float milliseconds = 0;
  d_.EventElapsedTime(&milliseconds, begin, end);
  EXPECT_FLOAT_EQ(milliseconds, 0.001f);
  d_.EventRecord(end, stream_);
  d_.EventElapsedTime(&milliseconds, begin, end);
  EXPECT_FLOAT_EQ(milliseconds, 3.0f);
  cuda_.Advance(absl::Seconds(1));
  d_.EventRecord(end, stream_);
  d_.EventElapsedTime(&milliseconds, begin, end);
  EXPECT_FLOAT_EQ(milliseconds, 1000.0f);
}

TEST_F(FakeCudaTest, AFaultStaysInItsContext) {
  cuda_.FaultKernel("bad", CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(Launch(Function("bad"), stream_), CUDA_SUCCESS);
  EXPECT_EQ(d_.StreamSynchronize(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(d_.StreamQuery(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(d_.StreamDestroy(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuda_.live().streams, 0);
  CUcontext second = nullptr;
  EXPECT_EQ(d_.DevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
  EXPECT_EQ(d_.CtxSetCurrent(second), CUDA_SUCCESS);
  EXPECT_NE(NewStream(), nullptr);
}

TEST_F(FakeCudaTest, TheNthCallFails) {
  cuda_.FailAt("MemAlloc", 2, CUDA_ERROR_OUT_OF_MEMORY);
  CUdeviceptr memory = NewMemory(1);
  EXPECT_EQ(d_.MemAlloc(&memory, 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(d_.MemAlloc(&memory, 1), CUDA_SUCCESS);
  cuda_.FailCall(1, CUDA_ERROR_UNKNOWN);
  const int before = cuda_.live().device_allocations;
  EXPECT_EQ(d_.MemFree(memory), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(cuda_.live().device_allocations, before - 1);  // freed all the same
  EXPECT_EQ(cuda_.calls("MemAlloc"), 3);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
}

TEST_F(FakeCudaTest, HandlesOfAnotherContextAreRefused) {
  CUcontext second = nullptr;
  ASSERT_EQ(d_.DevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
  ASSERT_EQ(d_.CtxSetCurrent(second), CUDA_SUCCESS);
  EXPECT_EQ(d_.StreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(d_.CtxSetCurrent(nullptr), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(d_.MemAlloc(&memory, 1), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda_.misuses().size(), 2u);
}

TEST_F(FakeCudaTest, HiddenKernelsAreNotFound) {
  cuda_.AddKernel("here", {});
  cuda_.AddKernel("gone", {});
  cuda_.HideKernel("gone");
  EXPECT_NE(Find("here"), nullptr);
  EXPECT_EQ(Find("gone"), nullptr);
  EXPECT_THAT(cuda_.misuses(), IsEmpty());
}

}  // namespace
}  // namespace reprise::testing
