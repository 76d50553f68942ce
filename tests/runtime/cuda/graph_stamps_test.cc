#include "runtime/cuda/graph_stamps.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cuda/captured_graph.h"
#include "runtime/cuda/stream.h"
#include "tests/runtime/cuda/context_fixture.h"
#include "tests/testing/fake_stamps.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::byte kImage[4] = {};

// A graph of one kernel, which takes 40 us, between two stamps.
class GraphStampsTest : public ContextFixture {
 protected:
  void SetUp() override {
    ContextFixture::SetUp();
    testing::AddStampKernels(cuda_);
    cuda_.AddKernel("work", {});
    cuda_.SetKernelTime("work", absl::Microseconds(40));
    ASSERT_THAT(modules_.Add(*current_, "all", kImage), IsOk());
    auto stamps = GraphStamps::Create(*current_, modules_);
    ASSERT_THAT(stamps, IsOk());
    stamps_ = *std::move(stamps);
    auto stream = MakeStream(*current_);
    ASSERT_THAT(stream, IsOk());
    stream_ = *std::move(stream);
    ASSERT_NO_FATAL_FAILURE(Capture());
  }

  void Capture() {
    const auto work = modules_.Find(*current_, "work", 0);
    ASSERT_THAT(work, IsOk());
    const auto issue = [&](CUstream stream) -> absl::Status {
      EXPECT_THAT(stamps_->Begin(stream), IsOk());
      CUlaunchConfig config = {};
      config.gridDimX = config.gridDimY = config.gridDimZ = 1;
      config.blockDimX = config.blockDimY = config.blockDimZ = 1;
      config.hStream = stream;
      EXPECT_EQ(cuda_.driver().LaunchKernelEx(&config, *work, nullptr, nullptr),
                CUDA_SUCCESS);
      return stamps_->End(stream);
    };
    size_t nodes = 0;
    auto graph = Record(*current_, stream_.get(), issue, {}, &nodes);
    ASSERT_THAT(graph, IsOk());
    EXPECT_EQ(nodes, 3u);
    auto captured = Instantiate(*current_, *std::move(graph), nodes);
    ASSERT_THAT(captured, IsOk());
    graph_ = *std::move(captured);
  }

  uint64_t Replay() {
    EXPECT_EQ(cuda_.driver().GraphLaunch(graph_.exec.get(), stream_.get()),
              CUDA_SUCCESS);
    return stamps_->Number();
  }

  Modules modules_;
  std::unique_ptr<GraphStamps> stamps_;
  UniqueStream stream_;
  CapturedGraph graph_;
};

TEST_F(GraphStampsTest, EveryReplayHasItsTime) {
  cuda_.Advance(absl::Milliseconds(3));
  const uint64_t first = Replay();
  cuda_.SetKernelTime("work", absl::Microseconds(90));
  cuda_.Advance(absl::Milliseconds(2));
  const uint64_t second = Replay();
  const auto one = stamps_->Of(first);
  ASSERT_THAT(one, IsOk());
  EXPECT_EQ(one->took, absl::Microseconds(40));
  const auto other = stamps_->Of(second);
  ASSERT_THAT(other, IsOk());
  EXPECT_EQ(other->took, absl::Microseconds(90));
  EXPECT_EQ(other->begun - one->begun, absl::Milliseconds(2));
}

TEST_F(GraphStampsTest, AReplayThatIsNotThereHasNone) {
  EXPECT_THAT(stamps_->Of(0), StatusIs(absl::StatusCode::kInternal));
  EXPECT_EQ(Replay(), 0u);
  EXPECT_THAT(stamps_->Of(0), IsOk());
  EXPECT_THAT(stamps_->Of(1), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(GraphStampsTest, TimesAreKeptUntilOthersNeedTheirPlace) {
  for (int i = 0; i < GraphStamps::kKept; ++i) Replay();
  EXPECT_THAT(stamps_->Of(0), IsOk());
  Replay();
  EXPECT_THAT(stamps_->Of(0), StatusIs(absl::StatusCode::kInternal,
                                       HasSubstr("replay 0 has left no time")));
  EXPECT_THAT(stamps_->Of(1), IsOk());
}

TEST_F(GraphStampsTest, WithoutItsKernelsThereIsNone) {
  Modules empty;
  EXPECT_THAT(GraphStamps::Create(*current_, empty),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace reprise::cuda
