#include "server/triton_flags.h"

#include <set>
#include <string>

#include "server/flag_table.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::set<std::string> OurFlags() {
  std::set<std::string> names;
  for (const FlagGroup& group : FlagTable()) {
    for (const Flag& flag : group.flags) names.insert(flag.name);
  }
  return names;
}

TEST(TritonFlagsTest, NoFlagIsBothOursAndIgnored) {
  const std::set<std::string> ours = OurFlags();
  std::set<std::string> seen;
  for (const TritonFlag& flag : TritonFlags()) {
    EXPECT_THAT(ours, Not(Contains(flag.name)));
    EXPECT_TRUE(seen.insert(flag.name).second) << flag.name;
    EXPECT_EQ(FindTritonFlag(flag.name), &flag);
  }
  EXPECT_EQ(FindTritonFlag("grpc-port"), nullptr);
}

TEST(TritonFlagsTest, AnAliasMeansAFlagOfOurs) {
  const std::set<std::string> ours = OurFlags();
  for (const FlagAlias& alias : FlagAliases()) {
    EXPECT_THAT(ours, Contains(alias.flag));
    EXPECT_THAT(ours, Not(Contains(alias.name)));
    EXPECT_EQ(FindAlias(alias.name), &alias);
  }
  EXPECT_EQ(FindAlias("model-repository"), nullptr);
}

TEST(TritonFlagsTest, WhatIsSoAnywayMayBeSaid) {
  const TritonFlag& http = *FindTritonFlag("allow-http");
  EXPECT_THAT(CheckIgnorable(http, "false"), IsOk());
  EXPECT_THAT(CheckIgnorable(http, "0"), IsOk());
  EXPECT_THAT(CheckIgnorable(http, "true"),
              StatusIs(kInvalid, HasSubstr("gRPC only")));
  EXPECT_THAT(CheckIgnorable(http, "perhaps"),
              StatusIs(kInvalid, "expected true or false"));
  EXPECT_THAT(CheckIgnorable(*FindTritonFlag("allow-grpc"), "true"), IsOk());
  EXPECT_THAT(CheckIgnorable(*FindTritonFlag("allow-grpc"), "false"),
              StatusIs(kInvalid));
}

TEST(TritonFlagsTest, WhatChangesNoAnswerIsIgnoredWithAnyValue) {
  for (const char* name :
       {"http-port", "http-address", "metrics-interval-ms", "metrics-config",
        "backend-config", "backend-directory", "pinned-memory-pool-byte-size",
        "cuda-memory-pool-byte-size", "min-supported-compute-capability",
        "buffer-manager-thread-count", "model-load-retry-count",
        "grpc-infer-allocation-pool-size", "rate-limit", "rate-limit-resource",
        "trace-config", "response-cache-byte-size", "cache-config", "id"}) {
    const TritonFlag* const flag = FindTritonFlag(name);
    ASSERT_NE(flag, nullptr) << name;
    EXPECT_THAT(CheckIgnorable(*flag, "any"), IsOk()) << name;
  }
}

TEST(TritonFlagsTest, WhatProtectsIsNeverIgnored) {
  for (const char* name : {"grpc-restricted-protocol", "http-restricted-api",
                           "sagemaker-port", "vertex-ai-default-model"}) {
    EXPECT_THAT(CheckIgnorable(*FindTritonFlag(name), "x"), StatusIs(kInvalid))
        << name;
  }
}

TEST(TritonFlagsTest, TheFormsSayWithWhichValueAFlagIsTaken) {
  EXPECT_THAT(IgnoredForms(), IsSupersetOf({"--allow-http=false",
                                            "--allow-grpc=true", "--id"}));
  EXPECT_THAT(RefusedForms(),
              IsSupersetOf({"--allow-http=true", "--allow-grpc=false",
                            "--grpc-restricted-protocol"}));
}

}  // namespace
}  // namespace reprise::testing
