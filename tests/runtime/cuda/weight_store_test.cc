#include "runtime/cuda/weight_store.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/thread.h"
#include "runtime/cuda/stream.h"
#include "tests/runtime/cuda/context_fixture.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/one_node.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::Noise;
using ::reprise::testing::StatusIs;

constexpr int64_t kMiB = int64_t{1} << 20;

class WeightStoreTest : public ContextFixture {
 protected:
  void SetUp() override {
    ContextFixture::SetUp();
    auto stream = MakeStream(*current_);
    ASSERT_THAT(stream, IsOk());
    stream_ = *std::move(stream);
    store_ = std::make_unique<WeightStore>(*context_, steps_);
  }

  void Add(std::shared_ptr<const HostTensor> tensor) {
    ASSERT_TRUE(store_->list().Add(tensor, DType::kFp32).ok());
    tensors_.push_back(std::move(tensor));
  }
  void AddNoise(int64_t elements) {
    Add(std::make_shared<const HostTensor>(
        Noise({elements}, static_cast<unsigned>(elements))));
  }
  absl::Status Upload() { return store_->Upload(*current_, stream_.get()); }
  void ExpectAllThere() {
    ASSERT_EQ(store_->addresses().size(), tensors_.size());
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const auto bytes = tensors_[i]->bytes();
      const void* const found =
          cuda_.Host(store_->addresses()[i], bytes.size());
      ASSERT_NE(found, nullptr) << i;
      EXPECT_EQ(std::memcmp(found, bytes.data(), bytes.size()), 0) << i;
    }
  }

  FakeClock clock_;
  LoadSteps steps_{clock_};
  UniqueStream stream_;
  std::unique_ptr<WeightStore> store_;
  std::vector<std::shared_ptr<const HostTensor>> tensors_;
};

TEST_F(WeightStoreTest, ManySmallTensorsGoUpTogether) {
  for (int i = 1; i <= 100; ++i) AddNoise(i * 7);
  EXPECT_EQ(store_->BytesToUpload(), store_->list().bytes());
  ASSERT_THAT(Upload(), IsOk());
  ExpectAllThere();
  EXPECT_EQ(steps_.times(LoadStep::kUpload).count, 1);
  EXPECT_EQ(store_->BytesToUpload(), 0);
  EXPECT_EQ(store_->bytes(), store_->list().bytes());
  EXPECT_EQ(cuda_.live().device_allocations, 1);
  EXPECT_EQ(cuda_.live().pinned_allocations, 0);  // staging is gone
}

TEST_F(WeightStoreTest, ALargeTensorGoesUpInPieces) {
  AddNoise(3);
  AddNoise(5 * kMiB);  // 20 MiB
  AddNoise(11);
  ASSERT_THAT(Upload(), IsOk());
  ExpectAllThere();
  // 1 MiB at first; then, on a clock that stands still, 8.
  EXPECT_EQ(steps_.times(LoadStep::kUpload).count, 4);
}

// Over a link on which the first MiB takes 4 ms a step of 5 ms has room for
// one.
TEST_F(WeightStoreTest, PiecesAreCutByTime) {
  AddNoise(kMiB);  // 4 MiB
  cuda_.SetManual(true);
  Thread link("link", [&] {
    for (int i = 0; i < 4; ++i) {
      cuda_.AwaitPending(stream_.get());
      clock_.Advance(absl::Milliseconds(4));
      cuda_.CompleteNext(stream_.get());
    }
  });
  ASSERT_THAT(Upload(), IsOk());
  link.Join();
  cuda_.SetManual(false);
  ExpectAllThere();
  EXPECT_EQ(steps_.times(LoadStep::kUpload).count, 4);
}

TEST_F(WeightStoreTest, ALaterListBringsWhatIsNew) {
  AddNoise(100);
  ASSERT_THAT(Upload(), IsOk());
  const CUdeviceptr first = store_->addresses()[0];
  ASSERT_THAT(Upload(), IsOk());  // nothing to do
  EXPECT_EQ(steps_.times(LoadStep::kUpload).count, 1);
  AddNoise(200);
  AddNoise(300);
  ASSERT_THAT(Upload(), IsOk());
  EXPECT_EQ(store_->addresses()[0], first);
  ExpectAllThere();
}

TEST_F(WeightStoreTest, WhicheverCallFailsNothingHasHappened) {
  AddNoise(100);
  ASSERT_THAT(Upload(), IsOk());
  AddNoise(3 * kMiB);
  const auto before = cuda_.live();
  for (const char* const call :
       {"MemAlloc", "MemHostAlloc", "MemcpyHtoDAsync", "StreamSynchronize"}) {
    cuda_.FailAt(call, 1, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_THAT(Upload(), StatusIs(absl::StatusCode::kResourceExhausted))
        << call;
    EXPECT_EQ(cuda_.live(), before) << call;
    EXPECT_EQ(store_->addresses().size(), 1u) << call;
  }
  ASSERT_THAT(Upload(), IsOk());
  ExpectAllThere();
}

TEST_F(WeightStoreTest, WhatIsFreedIsAStepThatIsCounted) {
  AddNoise(100);
  ASSERT_THAT(Upload(), IsOk());
  store_ = nullptr;
  EXPECT_EQ(steps_.times(LoadStep::kFree).count, 1);
  EXPECT_EQ(cuda_.live().device_allocations, 0);
  store_ = std::make_unique<WeightStore>(*context_, steps_);
  store_ = nullptr;  // had nothing
  EXPECT_EQ(steps_.times(LoadStep::kFree).count, 1);
}

}  // namespace
}  // namespace reprise::cuda
