#include "runtime/prepare/bind_signature.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/shape.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// x [s, 3, t], m [t] -> y [s, t], a row each.
Signature TwoSymbols() {
  Signature signature;
  signature.batched = true;
  signature.max_batch = 8;
  signature.inputs = {
      {.name = "x", .dims = {kFreeDim, 3, kFreeDim}, .symbols = {"s", "", "t"}},
      {.name = "m", .dims = {kFreeDim}, .symbols = {"t"}}};
  signature.outputs = {
      {.name = "y", .dims = {kFreeDim, kFreeDim}, .symbols = {"s", "t"}}};
  signature.free_symbols = {"s", "t"};
  return signature;
}

TEST(CheckVariantTest, EachFreeSymbolNeedsAValue) {
  EXPECT_THAT(CheckVariant(TwoSymbols(), {4, 7}, {1, 2}), IsOk());
  EXPECT_THAT(CheckVariant(TwoSymbols(), {4}, {1, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1 dims given for 2 free symbols")));
}

TEST(CheckVariantTest, ALadderIsPositiveAndAscending) {
  Signature signature;
  signature.batched = true;
  for (const std::vector<int>& ladder :
       {std::vector<int>{}, {0, 1}, {2, 1}, {1, 1}}) {
    EXPECT_THAT(CheckVariant(signature, {}, ladder),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(CheckVariant(signature, {}, {3}), IsOk());
}

TEST(CheckVariantTest, WithoutABatchTheLadderIsOne) {
  EXPECT_THAT(CheckVariant({}, {}, {1}), IsOk());
  EXPECT_THAT(CheckVariant({}, {}, {1, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(BindSymbolsTest, EverySymbolOfTheInputsGetsItsValue) {
  const Signature bound = BindSymbols(TwoSymbols(), {4, 7});
  EXPECT_THAT(bound.free_symbols, IsEmpty());
  EXPECT_THAT(bound.inputs[0].dims, ElementsAre(4, 3, 7));
  EXPECT_THAT(bound.inputs[0].symbols, ElementsAre("", "", ""));
  EXPECT_THAT(bound.inputs[1].dims, ElementsAre(7));
  EXPECT_EQ(bound.max_batch, 8);
}

// A graph of one output of this type.
class BindOutputsTest : public ::testing::Test {
 protected:
  BindOutputsTest() {
    graph_.outputs = {0};
    bound_.graph = &graph_;
  }
  absl::Status Bind(DType dtype, const Dims& dims, int rows) {
    bound_.types = {{.dtype = dtype, .dims = dims}};
    return BindOutputs(bound_, rows, signature_);
  }

  graph::Graph graph_;
  ops::BoundGraph bound_;
  Signature signature_ = TwoSymbols();
};

TEST_F(BindOutputsTest, TheDimsAreThoseOfARowOfTheBoundGraph) {
  ASSERT_THAT(Bind(DType::kFp32, {2, 4, 7}, 2), IsOk());
  EXPECT_THAT(signature_.outputs[0].dims, ElementsAre(4, 7));
  EXPECT_THAT(signature_.outputs[0].symbols, ElementsAre("", ""));
  signature_.batched = false;
  ASSERT_THAT(Bind(DType::kFp32, {2, 4, 7}, 1), IsOk());
  EXPECT_THAT(signature_.outputs[0].dims, ElementsAre(2, 4, 7));
}

TEST_F(BindOutputsTest, AnOutputWithoutTheBatchIsRefusedByName) {
  EXPECT_THAT(Bind(DType::kFp32, {4, 7}, 2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("'y'"), HasSubstr("a batch of 2"))));
  EXPECT_THAT(Bind(DType::kFp32, {}, 2),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(BindOutputsTest, AnotherDatatypeIsOurOwnFault) {
  EXPECT_THAT(Bind(DType::kInt64, {2, 4, 7}, 2),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("'y' is INT64, not FP32")));
}

}  // namespace
}  // namespace reprise
