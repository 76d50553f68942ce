#include "runtime/cpu/cpu_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/clock.h"
#include "runtime/cpu/cpu_lowering.h"
#include "tests/runtime/cpu/model_fixture.h"
#include "tests/testing/status_matchers.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> ours{0};     // asked for by our own code
std::atomic<int> library{0};  // asked for from inside oneDNN

// Whether `caller` lies in oneDNN, which keeps maps of its own for each call.
bool InOneDnn(void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

void* Counted(size_t size, void* caller) {
  if (counting.load(std::memory_order_relaxed)) {
    counting = false;  // dladdr itself may ask for memory
    ++(InOneDnn(caller) ? library : ours);
    counting = true;
  }
  void* const p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) std::abort();
  return p;
}

}  // namespace

// Not inlined: a compiler that sees malloc in one and not in the other warns.
[[gnu::noinline]] void* operator new(size_t size) {
  return Counted(size, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](size_t size) {
  return Counted(size, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  return Counted(size, __builtin_return_address(0));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, size_t) noexcept {
  std::free(p);
}

namespace reprise::cpu {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CpuDeviceTest, ListsEveryFaultOfItsOptions) {
  EXPECT_THAT(
      MakeCpuDevice({.threads = -1, .slots_per_lane = 1}, RealClock::Get()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("threads"), HasSubstr("slots_per_lane"))));
}

// The network's answers by plain loops, unfused.
std::vector<float> Reference(const TestModel& model,
                             const std::vector<float>& x, int rows) {
  auto bound = ops::Bind(*model.graph, model.signature, rows, {});
  EXPECT_THAT(bound, IsOk());
  Weights weights(*model.graph);
  auto program =
      Lower(*bound, OneDnn::Create().value(), weights, {.use_onednn = false});
  EXPECT_THAT(program, IsOk());
  AlignedBuffer arena(static_cast<size_t>(program->plan.arena_bytes));
  Runner runner(*std::move(program), arena.data());
  std::vector<float> in = x;
  std::vector<float> y(static_cast<size_t>(rows) * 5);
  std::byte* const inputs[] = {reinterpret_cast<std::byte*>(in.data())};
  std::byte* const outputs[] = {reinterpret_cast<std::byte*>(y.data())};
  EXPECT_THAT(runner.Run({inputs, outputs}), IsOk());
  return y;
}

class ServingTest : public ::testing::TestWithParam<absl::Duration> {
 protected:
  void SetUp() override {
    model_ = Import(ConvNet(), 4);
    ASSERT_TRUE(model_.signature.batched);
    device_ =
        MakeCpuDevice({.inline_below = GetParam()}, RealClock::Get()).value();
    auto loaded =
        device_->Load(model_.graph, model_.signature, {.model = "net/1"});
    ASSERT_THAT(loaded, IsOk());
    loaded_ = *std::move(loaded);
    auto executable = loaded_->Prepare({}, {1, 2, 4}, 0);
    ASSERT_THAT(executable, IsOk());
    executable_ = *std::move(executable);
  }

  TestModel model_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<LoadedModel> loaded_;
  std::unique_ptr<Executable> executable_;
};

// Import, fold, fuse, load, prepare, run: the answers are the naive ones.
TEST(CpuDeviceTest, KnowsTheVersionOfItsLibrary) {
  EXPECT_THAT(OneDnnVersion(),
              ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_P(ServingTest, AnImportedNetworkGivesTheNaiveAnswers) {
  for (int rows = 1; rows <= 4; ++rows) {
    const std::vector<float> x =
        Noise(static_cast<size_t>(rows) * 432, static_cast<unsigned>(rows));
    const std::vector<float> expected = Reference(model_, x, rows);
    SlotLease slot = executable_->AcquireSlot();
    std::memcpy(slot->input(0).data(), x.data(), x.size() * sizeof(float));
    ASSERT_THAT(executable_->Submit(*slot, rows), IsOk());
    ASSERT_THAT(executable_->Wait(*slot, absl::InfiniteFuture()), IsOk());
    const auto* y = reinterpret_cast<const float*>(slot->output(0).data());
    float sum = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(y[i], expected[i], 1e-5) << rows << " rows, element " << i;
      sum += y[i];
    }
    EXPECT_NEAR(sum, rows, 1e-4);  // of the softmax
  }
}

TEST_P(ServingTest, ServingAllocatesNothingOutsideTheLibrary) {
  const auto run = [&](int rows) {
    SlotLease slot = executable_->AcquireSlot();
    std::fill_n(slot->input(0).data(), slot->input(0).size(), std::byte{0});
    const bool ok = executable_->Submit(*slot, rows).ok() &&
                    executable_->Wait(*slot, absl::InfiniteFuture()).ok();
    if (!ok) std::abort();
  };
  for (int i = 0; i < 20; ++i) run(1 + i % 4);
  ours = 0;
  library = 0;
  counting = true;
  for (int i = 0; i < 100; ++i) run(1 + i % 4);
  counting = false;
  EXPECT_EQ(ours, 0);
  RecordProperty("allocations_in_onednn", library);
}

INSTANTIATE_TEST_SUITE_P(Threads, ServingTest,
                         ::testing::Values(absl::ZeroDuration(),
                                           absl::Seconds(10)),
                         [](const auto& tested) {
                           return tested.param == absl::ZeroDuration()
                                      ? "HandedOver"
                                      : "Inline";
                         });

}  // namespace
}  // namespace reprise::cpu
