#include "runtime/model/model_config.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/model/config_parameters.h"
#include "runtime/model/config_parse.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<ModelConfig> Build(const std::string& text,
                                  std::vector<std::string> free = {}) {
  const auto parsed = ParseConfigText(text);
  EXPECT_THAT(parsed, IsOk());
  Signature signature;
  signature.max_batch = std::max(1, parsed->proto.max_batch_size());
  signature.batched = parsed->proto.max_batch_size() > 0;
  signature.free_symbols = std::move(free);
  std::vector<std::string> faults;
  std::vector<std::string> ignored;
  const auto parameters = ReadParameters(parsed->proto, faults, ignored);
  EXPECT_THAT(faults, IsEmpty());
  inference::ModelConfig completed = parsed->proto;
  auto& batching = *completed.mutable_dynamic_batching();
  if (!parsed->proto.has_dynamic_batching()) {
    completed.clear_dynamic_batching();
  } else if (batching.preferred_batch_size_size() == 0) {
    batching.add_preferred_batch_size(signature.max_batch);
  }
  return BuildModelConfig(completed, signature, parameters, {});
}

TEST(ModelConfigTest, TheLadderIsConfiguredOrTheDefault) {
  EXPECT_THAT(Build("max_batch_size: 8")->ladder, ElementsAre(1, 2, 4, 8));
  EXPECT_FALSE(Build("max_batch_size: 8")->ladder_configured);
  EXPECT_THAT(Build("max_batch_size: 0")->ladder, ElementsAre(1));
  const auto preferred = Build(
      "max_batch_size: 16 dynamic_batching { preferred_batch_size: [ 6, 3 ] }");
  EXPECT_THAT(preferred->ladder, ElementsAre(1, 3, 6, 16));
  EXPECT_TRUE(preferred->ladder_configured);
  EXPECT_THAT(preferred->batch.preferred_sizes, ElementsAre(3, 6));
  const auto specs = Build(
      "max_batch_size: 16 dynamic_batching { preferred_batch_size: 3 } "
      "optimization { cuda { graph_spec { batch_size: 5 } "
      "graph_spec { batch_size: 16 } } }");
  EXPECT_THAT(specs->ladder, ElementsAre(1, 5, 16));
  EXPECT_THAT(specs->batch.preferred_sizes, ElementsAre(3));
}

TEST(ModelConfigTest, TheMaximumAloneIsNoPreference) {
  for (const char* batching :
       {"", "preferred_batch_size: 8", "preferred_batch_size: [ 8, 8 ]",
        "preferred_batch_size: 8 max_queue_delay_microseconds: 100"}) {
    const auto config = Build(
        absl::StrCat("max_batch_size: 8 dynamic_batching { ", batching, " }"));
    ASSERT_THAT(config, IsOk()) << batching;
    EXPECT_THAT(config->proto.dynamic_batching().preferred_batch_size(),
                Each(8));
    EXPECT_TRUE(config->batch.dynamic_batching) << batching;
    EXPECT_THAT(config->batch.preferred_sizes, IsEmpty()) << batching;
    EXPECT_THAT(config->ladder, ElementsAre(1, 2, 4, 8)) << batching;
    EXPECT_FALSE(config->ladder_configured) << batching;
  }
}

TEST(ModelConfigTest, TheMaximumBesideOthersIsAPreference) {
  const auto config = Build(
      "max_batch_size: 8 dynamic_batching { preferred_batch_size: [ 8, 4 ] }");
  ASSERT_THAT(config, IsOk());
  EXPECT_THAT(config->batch.preferred_sizes, ElementsAre(4, 8));
  EXPECT_THAT(config->ladder, ElementsAre(1, 4, 8));
  EXPECT_TRUE(config->ladder_configured);  // no rung of it is dropped
}

TEST(ModelConfigTest, QueuesArePlainStructs) {
  const auto config = Build(R"(
    max_batch_size: 8
    dynamic_batching {
      max_queue_delay_microseconds: 250 preserve_ordering: true
      priority_levels: 3 default_priority_level: 2
      default_queue_policy {
        timeout_action: DELAY default_timeout_microseconds: 1000
        allow_timeout_override: true max_queue_size: 16 }
      priority_queue_policy { key: 1 value { max_queue_size: 4 } }
    }
    parameters { key: "slo_ms" value { string_value: "20" } }
    parameters { key: "max_variants" value { string_value: "3" } }
  )");
  ASSERT_THAT(config, IsOk());
  const BatchConfig& batch = config->batch;
  EXPECT_TRUE(batch.dynamic_batching);
  EXPECT_EQ(batch.max_queue_delay, absl::Microseconds(250));
  EXPECT_TRUE(batch.preserve_ordering);
  EXPECT_EQ(batch.priority_levels, 3U);
  EXPECT_EQ(batch.default_priority, 2U);
  EXPECT_EQ(batch.default_queue.timeout_action,
            QueuePolicy::TimeoutAction::kDelay);
  EXPECT_EQ(batch.default_queue.default_timeout, absl::Milliseconds(1));
  EXPECT_EQ(batch.default_queue.max_queue_size, 16U);
  ASSERT_EQ(batch.priority_queues.count(1), 1U);
  EXPECT_EQ(batch.priority_queues.at(1).max_queue_size, 4U);
  EXPECT_EQ(batch.priority_queues.at(1).default_timeout, absl::ZeroDuration());
  EXPECT_EQ(batch.slo, absl::Milliseconds(20));
  EXPECT_EQ(batch.max_variants, 3);
  EXPECT_EQ(batch.max_queue_requests, 1024);
}

TEST(ModelConfigTest, WithoutDynamicBatchingEveryRequestIsABatch) {
  EXPECT_FALSE(Build("max_batch_size: 8")->batch.dynamic_batching);
}

TEST(ModelConfigTest, TimesBeyondTheClockAreNoOverflow) {
  const auto config = Build(
      "max_batch_size: 8 dynamic_batching { max_queue_delay_microseconds: "
      "18446744073709551615 default_queue_policy { "
      "default_timeout_microseconds: 18446744073709551615 } }");
  EXPECT_GT(config->batch.max_queue_delay, absl::Hours(24 * 365 * 1000));
  EXPECT_GT(config->batch.default_queue.default_timeout,
            absl::Hours(24 * 365 * 1000));
}

TEST(ModelConfigTest, InstanceGroupsAddUp) {
  EXPECT_EQ(Build("")->instances, 1);
  EXPECT_EQ(Build("")->kind, DeviceKind::kAuto);
  const auto config = Build(
      "instance_group { count: 2 kind: KIND_GPU gpus: [ 3, 1 ] } "
      "instance_group { count: 1 kind: KIND_GPU gpus: 1 }");
  EXPECT_EQ(config->instances, 3);
  EXPECT_EQ(config->kind, DeviceKind::kGpu);
  EXPECT_THAT(config->devices, ElementsAre(1, 3));
  EXPECT_EQ(Build("instance_group { kind: KIND_CPU }")->kind, DeviceKind::kCpu);
}

constexpr char kVariants[] =
    "parameters { key: 'variants' value { string_value: 'h=4,w=5; w=6,h=7' } }";

TEST(ModelConfigTest, VariantsBindEveryFreeDim) {
  const auto config = Build(kVariants, {"w", "h"});
  ASSERT_THAT(config, IsOk());
  Signature signature;
  signature.free_symbols = {"w", "h"};
  ASSERT_EQ(config->variants.size(), 2U);
  EXPECT_THAT(VariantKeyOf(signature, config->variants[0]), ElementsAre(5, 4));
  EXPECT_THAT(VariantKeyOf(signature, config->variants[1]), ElementsAre(6, 7));
}

TEST(ModelConfigTest, FaultsOfVariantsAreListedTogether) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(Build(kVariants, {"w", "d"}),
              StatusIs(kInvalid, AllOf(HasSubstr("does not bind 'd'"),
                                       HasSubstr("'h' is no free dim"))));
  EXPECT_THAT(
      Build(std::string(kVariants) +
                "parameters { key: 'dim.h' value { string_value: '1..5' } }",
            {"w", "h"}),
      StatusIs(kInvalid, HasSubstr("h=7 is outside dim.h")));
  EXPECT_THAT(
      Build(
          std::string(kVariants) +
              "parameters { key: 'max_variants' value { string_value: '1' } }",
          {"w", "h"}),
      StatusIs(kInvalid, HasSubstr("names 2 variants; max_variants is 1")));
}

TEST(ModelConfigTest, AVariantMayNameADimThatIsFixed) {
  EXPECT_THAT(
      Build(std::string(kVariants) +
                "parameters { key: 'dim.h' value { string_value: '1..9' } }",
            {"w"}),
      IsOk());
}

}  // namespace
}  // namespace reprise
