#include "runtime/cuda/captured_graph.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream.h"
#include "tests/runtime/cuda/context_fixture.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

class CapturedGraphTest : public ContextFixture {
 protected:
  void SetUp() override {
    ContextFixture::SetUp();
    auto stream = MakeStream(*current_);
    ASSERT_THAT(stream, IsOk());
    stream_ = *std::move(stream);
    auto buffer = DeviceBuffer::Allocate(*current_, 64);
    ASSERT_THAT(buffer, IsOk());
    buffer_ = *std::move(buffer);
    std::memset(cuda_.Host(buffer_.address(), 64), 0, 64);
  }

  absl::Status Fill(CUstream stream, unsigned char value) {
    return ToStatus(
        cuda_.driver(),
        cuda_.driver().MemsetD8Async(buffer_.address(), value, 64, stream),
        "filling");
  }
  // A graph of `count` fills, of which the last one writes `count`.
  absl::StatusOr<UniqueGraph> RecordFills(int count, size_t least = 1) {
    const auto issue = [&](CUstream stream) -> absl::Status {
      absl::Status status;
      for (int i = 1; i <= count && status.ok(); ++i) {
        status = Fill(stream, static_cast<unsigned char>(i));
      }
      return status;
    };
    return Record(*current_, stream_.get(), issue, {.least_nodes = least},
                  &nodes_);
  }
  // Whether the stream may be used: it has left capture mode.
  bool StreamWorks() { return Fill(stream_.get(), 9).ok() && FirstByte() == 9; }
  int FirstByte() {
    return *static_cast<unsigned char*>(cuda_.Host(buffer_.address(), 1));
  }

  UniqueStream stream_;
  DeviceBuffer buffer_;
  size_t nodes_ = 0;
};

TEST_F(CapturedGraphTest, WhatWasRecordedRunsWhenItIsLaunched) {
  auto graph = RecordFills(3);
  ASSERT_THAT(graph, IsOk());
  EXPECT_EQ(nodes_, 3u);
  EXPECT_EQ(FirstByte(), 0);  // nothing ran
  const auto captured = Instantiate(*current_, *std::move(graph), nodes_);
  ASSERT_THAT(captured, IsOk());
  EXPECT_EQ(captured->nodes, 3u);
  EXPECT_EQ(cuda_.live().graphs, 1);  // kept beside the executable graph
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(Fill(stream_.get(), 0), IsOk());
    EXPECT_EQ(cuda_.driver().GraphLaunch(captured->exec.get(), stream_.get()),
              CUDA_SUCCESS);
    EXPECT_EQ(FirstByte(), 3);
  }
}

TEST_F(CapturedGraphTest, AGraphWithTooFewNodesWasCapturedElsewhere) {
  EXPECT_THAT(RecordFills(2, /*least=*/3),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("has 2 nodes of 3")));
  EXPECT_TRUE(StreamWorks());
}

TEST_F(CapturedGraphTest, WhenRecordingFailsTheStreamLeavesCaptureMode) {
  const auto fail = [&](CUstream stream) -> absl::Status {
    EXPECT_THAT(Fill(stream, 1), IsOk());
    return absl::InternalError("broken");
  };
  EXPECT_THAT(Record(*current_, stream_.get(), fail, {}, &nodes_),
              StatusIs(absl::StatusCode::kInternal, "broken"));
  EXPECT_TRUE(StreamWorks());
}

TEST_F(CapturedGraphTest, WhicheverCallFailsNothingIsLeft) {
  const auto before = cuda_.live();
  for (const char* const call :
       {"StreamBeginCapture", "StreamEndCapture", "GraphGetNodes",
        "GraphNodeGetType", "MemGetInfo"}) {
    cuda_.FailAt(call, 1, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_THAT(RecordFills(1), StatusIs(absl::StatusCode::kFailedPrecondition))
        << call;
    EXPECT_EQ(cuda_.live(), before) << call;
    EXPECT_TRUE(StreamWorks()) << call;
  }
}

TEST_F(CapturedGraphTest, AGraphThatCannotBeInstantiatedIsGone) {
  const auto before = cuda_.live();
  auto graph = RecordFills(1);
  ASSERT_THAT(graph, IsOk());
  cuda_.FailAt("GraphInstantiateWithParams", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(Instantiate(*current_, *std::move(graph), nodes_),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("cuGraphInstantiate")));
  EXPECT_EQ(cuda_.live(), before);
}

// Other processes may take memory meanwhile; a recording that always does takes
// it itself.
TEST_F(CapturedGraphTest, MemoryMayNotShrinkEachTimeItIsRecorded) {
  size_t free = cuda_.Free(0);
  int recordings = 0;
  const auto shrink = [&](int times) {
    return [&, times](CUstream stream) -> absl::Status {
      if (recordings++ < times) cuda_.SetFree(0, free -= 4096);
      return Fill(stream, 1);
    };
  };
  EXPECT_THAT(Record(*current_, stream_.get(), shrink(2), {}, &nodes_), IsOk());
  EXPECT_EQ(recordings, 3);
  recordings = 0;
  EXPECT_THAT(Record(*current_, stream_.get(), shrink(100), {}, &nodes_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("took 4096 bytes of device memory")));
  EXPECT_EQ(recordings, 3);
}

}  // namespace
}  // namespace reprise::cuda
