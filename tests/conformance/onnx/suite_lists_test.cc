#include "tests/conformance/onnx/suite_lists.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::StatusIs;

const absl::Status kPasses = absl::OkStatus();
const absl::Status kNoEinsum = absl::UnimplementedError(
    "node 0 (Einsum): unsupported operator ai.onnx::Einsum");

SuiteLists Lists() {
  return *SuiteLists::Parse(
      "# names\nnode/test_abs\n",
      "operator Einsum ai.acme::Frob | not supported\n"
      "test node/test_bf16_* | output is BF16 | kept as other bits\n");
}

TEST(SuiteListsTest, AnAllowedTestMustPass) {
  SuiteLists lists = Lists();
  EXPECT_EQ(lists.Judge("node/test_abs", kPasses), "");
  EXPECT_THAT(lists.Judge("node/test_abs", kNoEinsum),
              HasSubstr("node/test_abs: UNIMPLEMENTED"));
}

TEST(SuiteListsTest, ASkippedTestNeedsARowThatSaysWhy) {
  SuiteLists lists = Lists();
  EXPECT_EQ(lists.Judge("node/test_einsum_sum", kNoEinsum), "");
  EXPECT_THAT(
      lists.Judge("node/test_loop", absl::UnimplementedError(
                                        "unsupported operator ai.onnx::Loop")),
      HasSubstr("no reason"));
  EXPECT_THAT(lists.Judge("node/test_e",
                          absl::UnimplementedError(
                              "unsupported operator ai.onnx::EinsumMore")),
              HasSubstr("no reason"));
  EXPECT_EQ(lists.Counts(), "passed 0, failed 2, skipped 1 of 3");
  EXPECT_THAT(lists.Reasons(), HasSubstr("skipped 1: not supported"));
}

TEST(SuiteListsTest, ASkippedTestMustNotPass) {
  SuiteLists lists = Lists();
  EXPECT_THAT(lists.Judge("node/test_einsum_sum", kPasses),
              HasSubstr("belongs into allowed.txt"));
  EXPECT_THAT(lists.Judge("node/test_bf16_x", kPasses),
              HasSubstr("belongs into allowed.txt"));
}

TEST(SuiteListsTest, AWrongAnswerIsExcusedByNameOnly) {
  const absl::Status wrong = absl::InternalError("output is BF16[3]");
  EXPECT_EQ(Lists().Judge("node/test_bf16_x", wrong), "");
  EXPECT_NE(Lists().Judge("node/test_other", wrong), "");
  SuiteLists any = *SuiteLists::Parse("", "test * | is BF16 | whatever");
  EXPECT_NE(any.Judge("node/test_bf16_x", wrong), "");
}

TEST(SuiteListsTest, WhatTheListsNameMustBeThere) {
  SuiteLists lists = Lists();
  EXPECT_THAT(lists.Unused(),
              ElementsAre("node/test_abs is allowed but not there",
                          "nothing is skipped by: operator Einsum",
                          "nothing is skipped by: operator ai.acme::Frob",
                          HasSubstr("node/test_bf16_*")));
  lists.Judge("node/test_abs", kPasses);
  lists.Judge("node/test_einsum", kNoEinsum);
  lists.Judge("node/test_frob",
              absl::UnimplementedError("unsupported operator ai.acme::Frob"));
  lists.Judge("node/test_bf16_x", absl::InternalError("output is BF16[3]"));
  EXPECT_THAT(lists.Unused(), IsEmpty());
}

TEST(SuiteListsTest, RowsOfAnotherFormAreRefused) {
  for (const char* row :
       {"operator Einsum", "test node/x | refusal", "node/test_x",
        "operator | ", "test node/x | refusal | "}) {
    EXPECT_THAT(SuiteLists::Parse("", row),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << row;
  }
  EXPECT_THAT(SuiteLists::Parse("node/a\nnode/a\n", ""),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace reprise
