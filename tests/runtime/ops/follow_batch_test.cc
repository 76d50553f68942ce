#include "runtime/ops/follow_batch.h"

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

}  // namespace
}  // namespace reprise::ops
