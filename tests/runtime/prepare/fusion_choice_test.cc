#include "runtime/prepare/fusion_choice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FusionChoiceTest, WhatIsNotNamedStaysOn) {
  auto options = FuseOptionsWithout({}, "the CPU");
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->batch_norm && options->bias && options->activation);
  options = FuseOptionsWithout({"bias", "activation"}, "the CPU");
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->batch_norm);
  EXPECT_FALSE(options->bias);
  EXPECT_FALSE(options->activation);
}

TEST(FusionChoiceTest, AllOfThemAreOffByOneWord) {
  auto options = FuseOptionsWithout({"all"}, "the CPU");
  ASSERT_THAT(options, IsOk());
  EXPECT_FALSE(options->batch_norm || options->bias || options->activation);
}

TEST(FusionChoiceTest, WhatThereIsNotIsRefusedWithWhatThereIs) {
  EXPECT_THAT(
      FuseOptionsWithout({"bias", "attention"}, "the GPU"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("the GPU has none of the name 'attention'"),
                     HasSubstr("it has activation, batch_norm, bias"))));
}

}  // namespace
}  // namespace reprise
