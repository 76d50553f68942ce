#include "runtime/cuda/rung_trials.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/runtime/cuda/neg_model.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// Negates in the first `right` runs, and adds one from then on.
NegModel::Kernel RightAtFirst(int right) {
  auto runs = std::make_shared<int>(0);
  return [=](const float* x, float* y, size_t count) {
    const float more = ++*runs > right ? 1.0F : 0.0F;
    for (size_t i = 0; i < count; ++i) y[i] = more - x[i];
  };
}

// Of {1, 2}, largest first, each is warmed up in a run of its own before any
// replay.
constexpr int kWarmUps = 2;

TEST(RungTrialsTest, AReplayThatIsNotTheRunBeforeItIsRefusedByName) {
  NegModel neg(RightAtFirst(kWarmUps));
  ASSERT_THAT(neg.Load(), IsOk());
  EXPECT_THAT(
      neg.Prepare({1, 2}),
      StatusIs(kRefused, AllOf(HasSubstr("rung 2"), HasSubstr("output 'y'"),
                               HasSubstr("replayed and not captured"))));
}

TEST(RungTrialsTest, EveryBankIsReplayed) {
  NegModel neg(RightAtFirst(kWarmUps + 1));
  ASSERT_THAT(neg.Load(), IsOk());
  EXPECT_THAT(neg.Prepare({1, 2}), StatusIs(kRefused, HasSubstr("rung 2")));
}

TEST(RungTrialsTest, ARungWhoseReplaysAreWrongMayBeLeftOut) {
  // Wrong while rung 1 is checked, which comes second, and right again later.
  auto runs = std::make_shared<int>(0);
  NegModel neg([runs](const float* x, float* y, size_t count) {
    const float more = ++*runs == kWarmUps + kBanks + 1 ? 1.0F : 0.0F;
    for (size_t i = 0; i < count; ++i) y[i] = more - x[i];
  });
  ASSERT_THAT(neg.Load({.strict_graphs = false}), IsOk());
  const auto executable = neg.Prepare({1, 2});
  ASSERT_THAT(executable, IsOk());
  ASSERT_EQ((*executable)->ladder().size(), 1u);
  EXPECT_EQ((*executable)->ladder()[0].rows, 2);
  EXPECT_EQ(neg.observer.left_out, 1);
  EXPECT_EQ(neg.cuda.live().execs, kBanks);
}

TEST(RungTrialsTest, RowsThatDependOnOthersAreRefused) {
  NegModel neg([](const float* x, float* y, size_t count) {
    for (size_t i = 0; i < count; ++i) y[i] = -x[i % NegModel::kRow];
  });
  ASSERT_THAT(neg.Load(), IsOk());
  EXPECT_THAT(neg.Prepare({1, 2}), StatusIs(kRefused, HasSubstr("row")));
}

class ReferenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = cpu::MakeCpuDevice({}, RealClock::Get());
    ASSERT_THAT(device, IsOk());
    device_ = *std::move(device);
  }
  ReferenceFn OnCpu() {
    return [this](std::shared_ptr<const graph::Graph> graph,
                  const Signature& signature, const LoadOptions& options) {
      ++loads_;
      precision_ = options.precision;
      return device_->Load(std::move(graph), signature, options);
    };
  }

  std::unique_ptr<Device> device_;
  int loads_ = 0;
  std::string precision_;
};

TEST_F(ReferenceTest, AVariantThatAnotherDeviceConfirmsIsServed) {
  NegModel neg;
  ASSERT_THAT(neg.Load({.reference = OnCpu()}), IsOk());
  const auto executable = neg.Prepare({1, 2});
  ASSERT_THAT(executable, IsOk());
  EXPECT_EQ(loads_, 1);
  EXPECT_EQ(precision_, "fp32");
  EXPECT_THAT(neg.Run(**executable, {1, 2, 3, 4}), IsOk());
}

TEST_F(ReferenceTest, OneThatItDoesNotIsRefusedWithBothValues) {
  NegModel neg([](const float* x, float* y, size_t count) {
    for (size_t i = 0; i < count; ++i) y[i] = -1.5F * x[i];
  });
  ASSERT_THAT(neg.Load({.reference = OnCpu()}), IsOk());
  EXPECT_THAT(
      neg.Prepare({1, 2}),
      StatusIs(kRefused, AllOf(HasSubstr("output 'y'"), HasSubstr("element"),
                               HasSubstr("the device that verifies"))));
  EXPECT_EQ(neg.cuda.live().execs, 0);
}

TEST_F(ReferenceTest, WhatItCannotLoadIsAnErrorOfItsOwn) {
  NegModel neg;
  const auto refuse = [](std::shared_ptr<const graph::Graph> /*graph*/,
                         const Signature& /*signature*/,
                         const LoadOptions& /*options*/)
      -> absl::StatusOr<std::unique_ptr<LoadedModel>> {
    return absl::ResourceExhaustedError("no room");
  };
  ASSERT_THAT(neg.Load({.reference = refuse}), IsOk());
  EXPECT_THAT(
      neg.Prepare({1, 2}),
      StatusIs(absl::StatusCode::kResourceExhausted,
               AllOf(HasSubstr("verify the GPU"), HasSubstr("no room"))));
}

}  // namespace
}  // namespace reprise::cuda
