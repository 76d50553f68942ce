#include "runtime/ops/follow_batch.h"

#include <string>
#include <vector>

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr auto kMixes = absl::StatusCode::kFailedPrecondition;

absl::Status Follow(const graph::Graph& graph, Dims row = {3}) {
  Signature signature;
  signature.batched = true;
  signature.inputs = {
      {"x", DType::kFp32, row, std::vector<std::string>(row.size())}};
  return FollowBatch(graph, signature, {});
}

TEST(FollowBatchTest, APlainChainKeepsItsRows) {
  EXPECT_THAT(Follow(GraphBuilder()
                         .Input("x", {-1, 3})
                         .Node("Relu", {"x"}, {"y"})
                         .Output("y")
                         .Output("x")
                         .Build()),
              IsOk());
}

TEST(FollowBatchTest, TheNodeAndTheReasonAreNamed) {
  graph::Graph graph = GraphBuilder(13)
                           .Input("x", {-1, 3})
                           .Node("Relu", {"x"}, {"r"})
                           .Node("ReduceMax", {"r"}, {"m"})
                           .Node("Sub", {"r", "m"}, {"y"})
                           .Output("y")
                           .Build();
  graph.nodes[1].name = "peak";
  EXPECT_THAT(
      Follow(graph),
      StatusIs(kMixes,
               "node 1 'peak' (ReduceMax): reduces over the batch axis (0)"));
}

TEST(FollowBatchTest, EveryOutputMustCarryTheBatch) {
  EXPECT_THAT(
      Follow(GraphBuilder()
                 .Input("x", {-1, 3})
                 .Constant("c", FloatTensor({1}, {1}))
                 .Node("Relu", {"x"}, {"y"})
                 .Node("Exp", {"c"}, {"z"})
                 .Output("y")
                 .Output("z")
                 .Build()),
      StatusIs(kMixes, "output 'z' does not carry the batch on axis 0"));
}

TEST(FollowBatchTest, AnOutputOfSeveralEntriesARowIsRefused) {
  EXPECT_THAT(Follow(GraphBuilder()
                         .Input("x", {-1, 3})
                         .Ints("flat", {-1})
                         .Node("Reshape", {"x", "flat"}, {"y"})
                         .Output("y")
                         .Build()),
              StatusIs(kMixes, HasSubstr("'y' does not carry")));
}

TEST(FollowBatchTest, ShapesThatDependOnTheBatchMayShape) {
  EXPECT_THAT(Follow(GraphBuilder()
                         .Input("x", {-1, 3})
                         .Node("Shape", {"x"}, {"s"})
                         .Node("ConstantOfShape", {"s"}, {"zeros"})
                         .Node("Add", {"x", "zeros"}, {"y"})
                         .Output("y")
                         .Build()),
              IsOk());
}

TEST(FollowBatchTest, TheCountOfRowsAsAnOutputIsRefused) {
  EXPECT_THAT(Follow(GraphBuilder()
                         .Input("x", {-1, 3})
                         .Node("Shape", {"x"}, {"s"})
                         .Node("Relu", {"x"}, {"y"})
                         .Output("y")
                         .Output("s")
                         .Build()),
              StatusIs(kMixes, HasSubstr("output 's'")));
}

TEST(FollowBatchTest, WithoutABatchedSignatureThereIsNothingToFollow) {
  EXPECT_THAT(FollowBatch(graph::Graph{}, Signature{}, {}), StatusIs(kMixes));
}

// x [N,3] and the number of rows n, INT64 [1].
GraphBuilder Counted() {
  GraphBuilder builder;
  builder.Input("x", {-1, 3})
      .Node("Shape", {"x"}, {"s"})
      .Ints("zero", {0})
      .Node("Gather", {"s", "zero"}, {"n"});
  return builder;
}

// y = x + FP32 `value`
absl::Status FollowAdded(GraphBuilder builder, const std::string& value) {
  return Follow(builder.Node("Cast", {value}, {"f"})
                    .Set("to", int64_t{1})
                    .Node("Add", {"x", "f"}, {"y"})
                    .Output("y")
                    .Build());
}

TEST(FollowBatchTest, AValueThatChangesAtOtherNumbersOfRowsIsNoData) {
  const auto count = StatusIs(kMixes, HasSubstr("number of rows as data"));
  EXPECT_THAT(
      FollowAdded(Counted().Ints("k", {2}).Node("Min", {"n", "k"}, {"v"}), "v"),
      count);  // 1 at one row
  EXPECT_THAT(
      FollowAdded(Counted().Ints("k", {4}).Node("Div", {"n", "k"}, {"v"}), "v"),
      count);
  EXPECT_THAT(
      FollowAdded(Counted().Ints("k", {200}).Node("Div", {"n", "k"}, {"v"}),
                  "v"),
      count);
  EXPECT_THAT(
      FollowAdded(Counted().Ints("k", {3}).Node("Greater", {"n", "k"}, {"v"}),
                  "v"),
      count);
  EXPECT_THAT(
      FollowAdded(Counted().Ints("k", {1}).Node("Min", {"n", "k"}, {"v"}), "v"),
      IsOk());  // 1 always
}

TEST(FollowBatchTest, AValueThatChangesMayStillShape) {
  EXPECT_THAT(Follow(Counted()
                         .Ints("k", {2})
                         .Node("Min", {"n", "k"}, {"v"})
                         .Node("Shape", {"v"}, {"one"})
                         .Node("ConstantOfShape", {"one"}, {"zeros"})
                         .Node("Add", {"x", "zeros"}, {"y"})
                         .Output("y")
                         .Build()),
              IsOk());
}

TEST(FollowBatchTest, EqualRowsMustBeThoseOfOtherNumbersOfRowsToo) {
  const auto graph = [](const std::string& value) {
    return Counted()
        .Ints("one", {1})
        .Node("Concat", {"n", "one"}, {"column"})
        .Set("axis", int64_t{0})
        .Node("Expand", {value, "column"}, {"e"});
  };
  EXPECT_THAT(FollowAdded(graph("n"), "e"),
              StatusIs(kMixes, HasSubstr("number of rows as data")));
  EXPECT_THAT(FollowAdded(graph("one"), "e"), IsOk());
}

TEST(FollowBatchTest, TheRowsOfALadderAreAsked) {
  const graph::Graph graph = Counted()
                                 .Ints("k", {5})
                                 .Node("Equal", {"n", "k"}, {"v"})
                                 .Node("Cast", {"v"}, {"f"})
                                 .Set("to", int64_t{1})
                                 .Node("Add", {"x", "f"}, {"y"})
                                 .Output("y")
                                 .Build();
  Signature signature;
  signature.batched = true;
  signature.inputs = {{"x", DType::kFp32, {3}, {""}}};
  EXPECT_THAT(FollowBatch(graph, signature, {}, std::vector<int>{1, 2, 4, 8}),
              IsOk());
  EXPECT_THAT(FollowBatch(graph, signature, {}, std::vector<int>{1, 5}),
              StatusIs(kMixes));
}

}  // namespace
}  // namespace reprise::ops
