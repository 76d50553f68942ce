#include "runtime/cuda/module.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cuda/context_fixture.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::byte kImage[4] = {};

class ModulesTest : public ContextFixture {
 protected:
  Modules modules_;
};

TEST_F(ModulesTest, AKernelIsLoadedWhenItIsLookedUp) {
  cuda_.AddKernel("add", {});
  EXPECT_FALSE(modules_.Has("add"));
  ASSERT_THAT(modules_.Add(*current_, "binary", kImage), IsOk());
  EXPECT_TRUE(modules_.Has("add"));
  EXPECT_FALSE(modules_.IsLoaded("add", 0));
  const auto first = modules_.Find(*current_, "add", 0);
  ASSERT_THAT(first, IsOk());
  EXPECT_TRUE(modules_.IsLoaded("add", 0));
  const auto second = modules_.Find(*current_, "add", 0);
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(*first, *second);
}

TEST_F(ModulesTest, AKernelThatThereIsNotIsNamed) {
  cuda_.AddKernel("add", {});
  ASSERT_THAT(modules_.Add(*current_, "binary", kImage), IsOk());
  EXPECT_THAT(modules_.Find(*current_, "gone", 0),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("kernel gone")));
  EXPECT_FALSE(modules_.IsLoaded("gone", 0));
}

TEST_F(ModulesTest, OfTwoKernelsOfOneNameTheFirstCounts) {
  cuda_.AddKernel("add", {});
  ASSERT_THAT(modules_.Add(*current_, "instead", kImage), IsOk());
  const auto first = modules_.Find(*current_, "add", 0);
  ASSERT_THAT(modules_.Add(*current_, "binary", kImage), IsOk());
  const auto second = modules_.Find(*current_, "add", 0);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(*first, *second);
}

TEST_F(ModulesTest, MuchSharedMemoryIsAskedForOnce) {
  cuda_.AddKernel("tile", {});
  ASSERT_THAT(modules_.Add(*current_, "matmul", kImage), IsOk());
  ASSERT_THAT(modules_.Find(*current_, "tile", 1000), IsOk());
  EXPECT_FALSE(modules_.IsLoaded("tile", 64 << 10));
  ASSERT_THAT(modules_.Find(*current_, "tile", 64 << 10), IsOk());
  EXPECT_TRUE(modules_.IsLoaded("tile", 64 << 10));
  EXPECT_THAT(modules_.Find(*current_, "tile", 512 << 20),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("kernel tile needs")));
}

// Whichever call fails, its status comes back with the image's name, and the
// module is unloaded.
TEST_F(ModulesTest, AnImageThatCannotBeTakenInLeavesNothing) {
  cuda_.AddKernel("add", {});
  cuda_.AddKernel("multiply", {});
  for (const auto& [call, n] :
       {std::pair("ModuleLoadData", 1), std::pair("ModuleGetFunctionCount", 1),
        std::pair("ModuleEnumerateFunctions", 1),
        std::pair("FuncGetName", 2)}) {
    cuda_.FailAt(call, n, CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_THAT(modules_.Add(*current_, "binary", kImage),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("device code 'binary'")))
        << call;
    EXPECT_THAT(modules_.Find(*current_, "add", 0),
                StatusIs(absl::StatusCode::kNotFound))
        << call;
  }
}

TEST_F(ModulesTest, AKernelThatCannotBeLoadedIsTriedAgain) {
  cuda_.AddKernel("add", {});
  ASSERT_THAT(modules_.Add(*current_, "binary", kImage), IsOk());
  cuda_.FailAt("FuncLoad", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(
      modules_.Find(*current_, "add", 0),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("kernel add")));
  EXPECT_THAT(modules_.Find(*current_, "add", 0), IsOk());
}

}  // namespace
}  // namespace reprise::cuda
