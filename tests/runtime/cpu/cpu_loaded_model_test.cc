#include "runtime/cpu/cpu_loaded_model.h"

#include <pthread.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/runtime/cpu/model_fixture.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cpu {
namespace {

using ::reprise::testing::FakeClock;
using ::reprise::testing::IsOk;
using ::reprise::testing::OnnxBuilder;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class CpuLoadedModelTest : public ::testing::Test {
 protected:
  std::unique_ptr<LoadedModel> Load(const OnnxBuilder& builder,
                                    const LoadOptions& options = {}) {
    const TestModel model = Import(builder, 8);
    auto loaded = device_->Load(model.graph, model.signature, options);
    EXPECT_THAT(loaded, IsOk());
    return *std::move(loaded);
  }

  FakeClock clock_;  // stands still: times are zero
  std::unique_ptr<Device> device_ =
      MakeCpuDevice({.threads = 1}, clock_).value();
};

TEST_F(CpuLoadedModelTest, PackedWeightsAreSharedByRungsAndLanes) {
  auto loaded = Load(ConvNet());
  const int64_t before = loaded->weight_bytes();
  ASSERT_THAT(loaded->Prepare({}, {1}, 0), IsOk());
  const int64_t packed = loaded->weight_bytes();
  EXPECT_GT(packed, before);
  ASSERT_THAT(loaded->Prepare({}, {1}, 0), IsOk());
  ASSERT_THAT(loaded->Prepare({}, {1}, 1), IsOk());
  EXPECT_EQ(loaded->weight_bytes(), packed);
}

TEST_F(CpuLoadedModelTest, AClockThatStandsStillDropsNoRung) {
  auto loaded = Load(ConvNet(), {.model = "net/1", .may_drop_rungs = true});
  auto executable = loaded->Prepare({}, {1, 2, 4}, 0);
  ASSERT_THAT(executable, IsOk());
  EXPECT_EQ((*executable)->ladder().size(), 3);
}

// Every look at it is a millisecond after the one before, so that every run
// takes as long as any other; or it stands still, and runs have no time.
class TickingClock final : public Clock {
 public:
  absl::Time Now() const override {
    return absl::UnixEpoch() + absl::Milliseconds(ticks_ += step_);
  }
  bool Await(absl::Mutex& mu, const absl::Condition& condition,
             absl::Time /*deadline*/) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    mu.Await(condition);
    return true;
  }
  void Tick(bool ticking) { step_ = ticking ? 1 : 0; }

 private:
  std::atomic<int> step_{1};
  mutable std::atomic<int> ticks_{0};
};

class RungsTest : public ::testing::Test {
 protected:
  // The rows of the rungs that a lane has after {1, 2, 4} were asked for.
  std::vector<int> Rows(LoadedModel& loaded, int lane) {
    auto executable = loaded.Prepare({}, {1, 2, 4}, lane);
    EXPECT_THAT(executable, IsOk());
    std::vector<int> rows;
    for (const Rung& rung : (*executable)->ladder()) rows.push_back(rung.rows);
    return rows;
  }
  std::unique_ptr<LoadedModel> Load(bool may_drop_rungs) {
    const TestModel model = Import(ConvNet(), 4);
    return device_
        ->Load(model.graph, model.signature,
               {.model = "net/1", .may_drop_rungs = may_drop_rungs})
        .value();
  }

  TickingClock clock_;
  std::unique_ptr<Device> device_ =
      MakeCpuDevice({.threads = 1}, clock_).value();
};

TEST_F(RungsTest, ARungThatIsNoFasterThanALargerOneIsDropped) {
  EXPECT_THAT(Rows(*Load(/*may_drop_rungs=*/true), 0), ElementsAre(4));
}

TEST_F(RungsTest, ConfiguredRungsAreNeverDropped) {
  EXPECT_THAT(Rows(*Load(/*may_drop_rungs=*/false), 0), ElementsAre(1, 2, 4));
}

TEST_F(RungsTest, FurtherLanesHaveTheRungsOfTheFirst) {
  auto loaded = Load(/*may_drop_rungs=*/true);
  EXPECT_THAT(Rows(*loaded, 0), ElementsAre(4));
  clock_.Tick(false);
  EXPECT_THAT(Rows(*loaded, 1), ElementsAre(4));
  loaded = Load(/*may_drop_rungs=*/true);
  EXPECT_THAT(Rows(*loaded, 0), ElementsAre(1, 2, 4));
  clock_.Tick(true);
  EXPECT_THAT(Rows(*loaded, 1), ElementsAre(1, 2, 4));
}

// More work than a model's trial runs may do on the lane.
OnnxBuilder LongProduct() {
  OnnxBuilder model(13);
  model.Input("x", {"N", 512, 512})
      .Floats("w", {512, 512}, Noise(512 * 512, 1))
      .Node("MatMul", {"x", "w"}, {"h"})
      .Node("Softmax", {"h"}, {"s"})  // by way of the arena
      .Node("Neg", {"s"}, {"y"})
      .Output("y", {"N", 512, 512});
  return model;
}

// Counts the looks of threads other than the one that made it.
class OtherThreadsClock final : public Clock {
 public:
  absl::Time Now() const override {
    if (pthread_equal(pthread_self(), mine_) == 0) ++looks_;
    return absl::UnixEpoch();
  }
  bool Await(absl::Mutex& mu, const absl::Condition& condition,
             absl::Time /*deadline*/) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    mu.Await(condition);
    return true;
  }
  int looks() const { return looks_; }

 private:
  const pthread_t mine_ = pthread_self();
  mutable std::atomic<int> looks_{0};
};

TEST(TrialTest, ALongModelRunsOnTheLaneWhenItsTimesAreKnown) {
  OtherThreadsClock clock;
  auto device = MakeCpuDevice({.threads = 1}, clock).value();
  const auto prepare = [&](const OnnxBuilder& builder) {
    const TestModel model = Import(builder, 1);
    auto loaded = device->Load(model.graph, model.signature, {}).value();
    EXPECT_THAT(loaded->Prepare({}, {1}, 0), IsOk());
  };
  prepare(LongProduct());
  EXPECT_EQ(clock.looks(), 2);  // when the one run began, and when it ended
  prepare(ConvNet());
  EXPECT_GT(clock.looks(), 50);
}

TEST(TrialTest, AModelWhoseRunTakesTooLongIsRefused) {
  TickingClock clock;
  auto device =
      MakeCpuDevice({.threads = 1, .longest_trial = absl::Microseconds(500)},
                    clock)
          .value();
  const TestModel model = Import(LongProduct(), 1);
  auto loaded = device->Load(model.graph, model.signature, {}).value();
  EXPECT_THAT(loaded->Prepare({}, {1}, 0),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       AllOf(HasSubstr("1 rows takes longer than 500us"),
                             HasSubstr("that makes '"))));
  EXPECT_EQ(device->memory().slots, 0);  // it left nothing behind
}

// What `executable` makes of one row of `x`.
std::vector<float> Answer(Executable& executable, const std::vector<float>& x) {
  SlotLease slot = executable.AcquireSlot();
  std::memcpy(slot->input(0).data(), x.data(), x.size() * sizeof(float));
  EXPECT_THAT(executable.Submit(*slot, 1), IsOk());
  EXPECT_THAT(executable.Wait(*slot, absl::InfiniteFuture()), IsOk());
  const auto* y = reinterpret_cast<const float*>(slot->output(0).data());
  return {y, y + slot->output(0).size() / sizeof(float)};
}

TEST_F(CpuLoadedModelTest, AnswersAreTheSameWithoutFusions) {
  const std::vector<float> x = Noise(432, 21);
  auto fused = Load(ConvNet());
  auto executable = fused->Prepare({}, {1}, 0);
  ASSERT_THAT(executable, IsOk());
  const std::vector<float> expected = Answer(**executable, x);
  for (const std::vector<std::string>& off :
       std::vector<std::vector<std::string>>{{"all"},
                                             {"activation"},
                                             {"batch_norm"},
                                             {"bias"},
                                             {"activation", "batch_norm"}}) {
    auto loaded = Load(ConvNet(), {.model = "net/1", .fusions_off = off});
    auto plain = loaded->Prepare({}, {1}, 0);
    ASSERT_THAT(plain, IsOk());
    EXPECT_THAT(Answer(**plain, x), Pointwise(FloatNear(1e-5F), expected))
        << off[0];
  }
}

TEST_F(CpuLoadedModelTest, EveryFusionHasItsSwitch) {
  // A batch normalisation leaves its parameters behind.
  EXPECT_GT(Load(ConvNet(), {.model = "net/1", .fusions_off = {"batch_norm"}})
                ->weight_bytes(),
            Load(ConvNet())->weight_bytes());
  // Each node that stands alone makes a value of its own.
  OnnxBuilder model(13);
  model.Input("x", {"N", 64})
      .Floats("w", {64, 64}, Noise(4096, 1))
      .Floats("b", {64}, Noise(64, 2))
      .Node("MatMul", {"x", "w"}, {"m"})
      .Node("Add", {"m", "b"}, {"a"})
      .Node("Relu", {"a"}, {"y"})
      .Output("y", {"N", 64});
  const auto arena = [&](const std::vector<std::string>& off) {
    auto loaded = Load(model, {.model = "net/1", .fusions_off = off});
    auto executable = loaded->Prepare({}, {4}, 0);
    EXPECT_THAT(executable, IsOk());
    return (*executable)->arena_bytes();
  };
  EXPECT_GT(arena({"activation"}), arena({}));
  EXPECT_GT(arena({"bias"}), arena({"activation"}));
  EXPECT_EQ(arena({"all"}), arena({"bias"}));
}

TEST_F(CpuLoadedModelTest, AFusionThatItDoesNotHaveIsRefusedByName) {
  const TestModel model = Import(ConvNet(), 8);
  EXPECT_THAT(
      device_->Load(model.graph, model.signature,
                    {.model = "net/1", .fusions_off = {"bias", "attention"}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("'attention'"),
                     HasSubstr("activation, batch_norm, bias"))));
}

TEST_F(CpuLoadedModelTest, RefusesLaddersThatAreNone) {
  auto loaded = Load(ConvNet());
  for (const std::vector<int>& ladder :
       {std::vector<int>{}, {0, 1}, {2, 1}, {1, 1}}) {
    EXPECT_THAT(loaded->Prepare({}, ladder, 0),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(loaded->Prepare({3}, {1}, 0),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1 dims given for 0")));
  EXPECT_THAT(loaded->Prepare({}, {1}, -1),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(CpuLoadedModelTest, ArenaBytesAreThoseOfTheLargestRung) {
  auto loaded = Load(ConvNet());
  auto small = loaded->Prepare({}, {1}, 0);
  auto large = loaded->Prepare({}, {1, 8}, 0);
  ASSERT_THAT(small, IsOk());
  ASSERT_THAT(large, IsOk());
  EXPECT_GT((*small)->arena_bytes(), 0);
  EXPECT_GT((*large)->arena_bytes(), 4 * (*small)->arena_bytes());
}

TEST_F(CpuLoadedModelTest, SlotsShrinkWithTheExecutableThatNeededThem) {
  auto loaded = Load(ConvNet());
  auto small = loaded->Prepare({}, {1}, 0);
  ASSERT_THAT(small, IsOk());
  const int64_t slots = device_->memory().slots;
  auto large = loaded->Prepare({}, {8}, 0);
  ASSERT_THAT(large, IsOk());
  EXPECT_GT(device_->memory().slots, 4 * slots);
  large->reset();
  EXPECT_EQ(device_->memory().slots, slots);
  EXPECT_EQ(Answer(**small, Noise(432, 21)).size(), 5);
}

TEST_F(CpuLoadedModelTest, RefusesWhatNeedsMoreMemoryThanIsFree) {
  OnnxBuilder model(13);
  model.Input("x", {"N", "length"})
      .Node("Relu", {"x"}, {"y"})
      .Output("y", {"N", "length"});
  auto loaded = Load(model);
  EXPECT_THAT(
      loaded->Prepare({int64_t{1} << 45}, {1}, 0),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("are free")));
}

// y = x + (n > s * s), for n rows of x [n,s].
TEST_F(CpuLoadedModelTest, RowsAreFollowedAgainAtAVariantsOwnDims) {
  OnnxBuilder model(13);
  model.Input("x", {"N", "s"})
      .Int64s("zero", {1}, {0})
      .Int64s("one", {1}, {1})
      .Node("Shape", {"x"}, {"shape"})
      .Node("Gather", {"shape", "zero"}, {"n"})
      .Node("Gather", {"shape", "one"}, {"s"})
      .Node("Mul", {"s", "s"}, {"square"})
      .Node("Greater", {"n", "square"}, {"more"})
      .Node("Cast", {"more"}, {"added"})
      .Int("to", OnnxBuilder::kFloat)
      .Node("Add", {"x", "added"}, {"y"})
      .Output("y", {"N", "s"});
  auto loaded = Load(model);
  EXPECT_THAT(loaded->Prepare({8}, {1, 2, 4}, 0), IsOk());
  EXPECT_THAT(loaded->Prepare({2}, {1, 2, 4}, 0), IsOk());
  EXPECT_THAT(loaded->Prepare({2}, {1, 2, 8}, 0),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("(Add): uses the number of rows as data")));
  EXPECT_THAT(loaded->Prepare({1}, {1, 2}, 0),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace reprise::cpu
