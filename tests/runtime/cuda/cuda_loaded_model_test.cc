#include "runtime/cuda/cuda_loaded_model.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/device/fault.h"
#include "runtime/onnx/importer.h"
#include "tests/runtime/cuda/neg_model.h"
#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeCudaCounts;
using ::reprise::testing::IsOk;
using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<std::unique_ptr<LoadedModel>> LoadAs(NegModel& neg,
                                                    LoadOptions options) {
  return neg.device->Load(NegGraph(), NegSignature(), options);
}

TEST(CudaLoadedModelTest, OptionsThatThereAreNotAreNamed) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  EXPECT_THAT(LoadAs(neg, {.model = "neg/2", .precision = "int4"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("model neg/2"), HasSubstr("'int4'"),
                             HasSubstr("fp32|tf32|fp16|bf16"))));
  EXPECT_THAT(LoadAs(neg, {.model = "neg/2", .fusions_off = {"magic"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("magic")));
}

TEST(CudaLoadedModelTest, StringsAreRefusedByName) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  Signature signature = NegSignature();
  signature.inputs[0].dtype = DType::kString;
  EXPECT_THAT(neg.device->Load(NegGraph(), signature, {.model = "s/1"}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("'x'"), HasSubstr("KIND_CPU"))));
}

TEST(CudaLoadedModelTest, WhatDoesNotFitIsRefusedBeforeAnythingIsTaken) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  ASSERT_THAT(neg.Prepare({1}), IsOk());  // the lane is there
  const FakeCudaCounts before = neg.cuda.live();
  neg.cuda.SetFree(0, 65 << 20);  // of which 64 MiB are left alone
  EXPECT_THAT(neg.Prepare({1 << 16}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("for inputs and outputs"),
                             HasSubstr("are free"))));
  EXPECT_EQ(neg.cuda.live(), before);
}

// Of every call that preparing a variant makes, one fails: the variant is
// refused and leaves nothing, and one that was there before still answers.
class EveryCallTest : public ::testing::Test {
 protected:
  void Start(NegModel& neg) {
    ASSERT_THAT(neg.Load(), IsOk());
    auto served = neg.Prepare({1, 2});
    ASSERT_THAT(served, IsOk());
    served_ = *std::move(served);
  }
  int CallsOfPrepare() {
    NegModel neg;
    Start(neg);
    const int before = neg.cuda.calls();
    EXPECT_THAT(neg.Prepare({1, 4}), IsOk());
    const int calls = neg.cuda.calls() - before;
    served_ = nullptr;
    return calls;
  }

  std::unique_ptr<Executable> served_;
};

TEST_F(EveryCallTest, WithoutMemoryTheOthersServeOn) {
  const int calls = CallsOfPrepare();
  ASSERT_GT(calls, 100);
  int refused = 0;
  for (int n = 1; n <= calls; ++n) {
    NegModel neg;
    ASSERT_NO_FATAL_FAILURE(Start(neg));
    const FakeCudaCounts before = neg.cuda.live();
    neg.cuda.FailCall(n, CUDA_ERROR_OUT_OF_MEMORY);
    auto made = neg.Prepare({1, 4});
    if (!made.ok()) {
      ++refused;
      EXPECT_THAT(made, StatusIs(absl::StatusCode::kResourceExhausted)) << n;
      // What page-locked memory a slot has grown by stays for the next one.
      FakeCudaCounts after = neg.cuda.live();
      after.pinned_allocations = before.pinned_allocations;
      EXPECT_EQ(after, before) << "call " << n;
    }
    made = absl::CancelledError("");
    EXPECT_THAT(neg.Run(*served_, {1, 2, 3, 4}),
                IsOkAndHolds(ElementsAre(-1, -2, -3, -4)))
        << "call " << n;
    EXPECT_THAT(neg.Prepare({1, 4}), IsOk()) << "call " << n;
    EXPECT_THAT(neg.cuda.misuses(), IsEmpty()) << "call " << n;
    served_ = nullptr;
  }
  EXPECT_GT(refused, calls * 3 / 4);
}

TEST_F(EveryCallTest, AFatalErrorIsADeviceFaultWhereverItComes) {
  const int calls = CallsOfPrepare();
  int refused = 0;
  for (int n = 1; n <= calls; ++n) {
    NegModel neg;
    ASSERT_NO_FATAL_FAILURE(Start(neg));
    neg.cuda.FailCall(n, CUDA_ERROR_ILLEGAL_ADDRESS);
    auto made = neg.Prepare({1, 4});
    if (!made.ok()) {
      ++refused;
      EXPECT_TRUE(IsDeviceFault(made.status())) << n << " " << made.status();
    }
    made = absl::CancelledError("");
    served_ = nullptr;
    neg.model = nullptr;
    neg.device = nullptr;
    EXPECT_EQ(neg.cuda.live(), FakeCudaCounts{}) << "call " << n;
    EXPECT_THAT(neg.cuda.misuses(), IsEmpty()) << "call " << n;
  }
  EXPECT_GT(refused, calls * 3 / 4);
}

// Two kernels with the arena between them.
std::shared_ptr<const graph::Graph> NegAndSoftmax() {
  testing::OnnxBuilder model(13);
  model.Input("x", {"N", static_cast<int64_t>(NegModel::kRow)})
      .Node("Neg", {"x"}, {"h"})
      .Node("Softmax", {"h"}, {"y"})
      .Output("y", {"N", static_cast<int64_t>(NegModel::kRow)});
  auto graph = onnx_import::ImportModel(model.Bytes(), {});
  return std::make_shared<graph::Graph>(*std::move(graph));
}

// Adds a softmax that passes on what it is given.
void AddSoftmax(NegModel& neg) {
  neg.cuda.AddKernel(
      "reprise_softmax_team_f32",
      {sizeof(CUdeviceptr), sizeof(CUdeviceptr),
       sizeof(kernels::SoftmaxParams)},
      [](const testing::FakeKernelCall& call) {
        const auto params = call.Value<kernels::SoftmaxParams>(2);
        const auto count = static_cast<size_t>(params.outer * params.length);
        const auto* const x = call.Pointer<float>(0, count);
        auto* const y = call.Pointer<float>(1, count);
        if (x == nullptr || y == nullptr) return;
        std::copy(x, x + count, y);
      });
}

TEST(CudaLoadedModelTest, AnAnswerMadeOfWhatNobodyWroteIsRefused) {
  for (const size_t unwritten : {0, 1}) {
    NegModel neg([unwritten](const float* x, float* y, size_t count) {
      for (size_t i = 0; i + unwritten < count; ++i) y[i] = -x[i];
    });
    AddSoftmax(neg);
    ASSERT_THAT(neg.Load(), IsOk());
    const auto model =
        neg.device->Load(NegAndSoftmax(), NegSignature(), {.model = "two/1"});
    ASSERT_THAT(model, IsOk());
    const auto executable = (*model)->Prepare({}, {1}, /*lane=*/0);
    if (unwritten == 0) {
      EXPECT_THAT(executable, IsOk());
      continue;
    }
    EXPECT_THAT(executable, StatusIs(absl::StatusCode::kFailedPrecondition,
                                     AllOf(HasSubstr("rung 1: output 'y'"),
                                           HasSubstr("at element 3"))));
  }
}

TEST(CudaLoadedModelTest, AnOutputThatNobodyWroteIsRefused) {
  NegModel neg([](const float* x, float* y, size_t count) {
    for (size_t i = 0; i + 1 < count; ++i) y[i] = -x[i];
  });
  ASSERT_THAT(neg.Load(), IsOk());
  EXPECT_THAT(neg.Prepare({1}), StatusIs(absl::StatusCode::kFailedPrecondition,
                                         AllOf(HasSubstr("output 'y'"),
                                               HasSubstr("at element 3"))));
}

TEST(CudaLoadedModelTest, GraphsOfALoadThatFailsAreNotCountedAfterIt) {
  NegModel neg;
  neg.cuda.SetGraphBytes(4096);
  ASSERT_THAT(neg.Load(), IsOk());
  const auto served = neg.Prepare({1});
  ASSERT_THAT(served, IsOk());
  const int64_t before = neg.device->memory().graphs;
  EXPECT_EQ(before, kBanks * 4096);
  neg.cuda.FailAt("GraphInstantiateWithParams", kBanks + 1,
                  CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(neg.Prepare({1, 2}),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(neg.device->memory().graphs, before);
}

TEST(CudaLoadedModelTest, VariantsOfOneLaneShareItsArenaAndSlots) {
  NegModel neg;
  ASSERT_THAT(neg.Load(), IsOk());
  const auto small = neg.Prepare({1, 2});
  ASSERT_THAT(small, IsOk());
  const FakeCudaCounts before = neg.cuda.live();
  const auto same = neg.Prepare({1, 2});
  ASSERT_THAT(same, IsOk());
  const FakeCudaCounts after = neg.cuda.live();
  EXPECT_EQ(after.mappings, before.mappings);
  EXPECT_EQ(after.reservations, before.reservations);
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_EQ(after.execs, 2 * before.execs);
}

}  // namespace
}  // namespace reprise::cuda
