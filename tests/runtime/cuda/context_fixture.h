// A context of a fake GPU that is current, for tests of what acts on it.
#pragma once

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cuda/context.h"
#include "tests/testing/fake_cuda.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {

// When all members of a test are gone nothing may be left, and nothing may have
// been misused.
class ContextFixture : public ::testing::Test {
 protected:
  ~ContextFixture() override {
    EXPECT_EQ(cuda_.live(), before_);
    EXPECT_THAT(cuda_.misuses(), ::testing::IsEmpty());
  }
  void SetUp() override {
    ASSERT_EQ(cuda_.driver().Init(0), CUDA_SUCCESS);
    auto context = PrimaryContext::Retain(cuda_.driver(), 0);
    ASSERT_THAT(context, testing::IsOk());
    context_ = *std::move(context);
    auto current = CurrentContext::Enter(*context_);
    ASSERT_THAT(current, testing::IsOk());
    current_ = std::make_unique<CurrentContext>(*std::move(current));
    before_ = cuda_.live();
  }

  testing::FakeCuda cuda_;
  std::unique_ptr<PrimaryContext> context_;
  std::unique_ptr<CurrentContext> current_;
  testing::FakeCudaCounts before_;
};

}  // namespace reprise::cuda
