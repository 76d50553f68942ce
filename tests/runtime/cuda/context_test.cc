#include "runtime/cuda/context.h"

#include <memory>
#include <optional>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/thread.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::FakeCuda;
using ::reprise::testing::FakeGpu;
using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ContextTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(driver_.Init(0), CUDA_SUCCESS); }
  void TearDown() override { EXPECT_THAT(cuda_.misuses(), IsEmpty()); }

  CUcontext Current() const {
    CUcontext context = nullptr;
    EXPECT_EQ(driver_.CtxGetCurrent(&context), CUDA_SUCCESS);
    return context;
  }

  FakeCuda cuda_{{FakeGpu{}, FakeGpu{}}};
  const Driver& driver_ = cuda_.driver();
};

TEST_F(ContextTest, KeepsThePrimaryContextWhileItIsThere) {
  {
    const auto context = PrimaryContext::Retain(driver_, 1);
    ASSERT_THAT(context, IsOk());
    EXPECT_EQ((*context)->device(), 1);
    EXPECT_NE((*context)->get(), nullptr);
    EXPECT_EQ(cuda_.live().contexts, 1);
    const auto again = PrimaryContext::Retain(driver_, 1);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ((*again)->get(), (*context)->get());
  }
  EXPECT_EQ(cuda_.live().contexts, 0);
}

TEST_F(ContextTest, WhatTheThreadHadBeforeComesBack) {
  const auto one = PrimaryContext::Retain(driver_, 0);
  const auto other = PrimaryContext::Retain(driver_, 1);
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(other, IsOk());
  EXPECT_EQ(Current(), nullptr);
  {
    const auto outer = CurrentContext::Enter(**one);
    ASSERT_THAT(outer, IsOk());
    EXPECT_EQ(Current(), (*one)->get());
    {
      const auto inner = CurrentContext::Enter(**other);
      ASSERT_THAT(inner, IsOk());
      EXPECT_EQ(Current(), (*other)->get());
    }
    EXPECT_EQ(Current(), (*one)->get());
  }
  EXPECT_EQ(Current(), nullptr);
}

TEST_F(ContextTest, OnlyTheLastHolderGivesItBack) {
  const auto context = PrimaryContext::Retain(driver_, 0);
  ASSERT_THAT(context, IsOk());
  auto entered = CurrentContext::Enter(**context);
  ASSERT_THAT(entered, IsOk());
  {
    const CurrentContext moved = *std::move(entered);
    EXPECT_EQ(&moved.context(), context->get());
    EXPECT_EQ(Current(), (*context)->get());
  }
  EXPECT_EQ(Current(), nullptr);
}

TEST_F(ContextTest, IsCurrentOnTheThreadThatEnteredAlone) {
  const auto context = PrimaryContext::Retain(driver_, 0);
  ASSERT_THAT(context, IsOk());
  const auto entered = CurrentContext::Enter(**context);
  ASSERT_THAT(entered, IsOk());
  CUcontext elsewhere = (*context)->get();
  Thread other("other", [&] { elsewhere = Current(); });
  other.Join();
  EXPECT_EQ(elsewhere, nullptr);
}

TEST_F(ContextTest, FailsAsTheDriverDoes) {
  cuda_.FailAt("DevicePrimaryCtxRetain", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(PrimaryContext::Retain(driver_, 0),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("cuDevicePrimaryCtxRetain")));
  const auto context = PrimaryContext::Retain(driver_, 0);
  ASSERT_THAT(context, IsOk());
  for (const char* const call : {"CtxGetCurrent", "CtxSetCurrent"}) {
    cuda_.FailAt(call, 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_THAT(CurrentContext::Enter(**context),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr(call)));
  }
  EXPECT_EQ(Current(), nullptr);
}

}  // namespace
}  // namespace reprise::cuda
