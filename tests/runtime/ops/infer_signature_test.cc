#include "runtime/ops/infer_signature.h"

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::ElementsAre;
using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

InferredSignature Infer(const graph::Graph& graph,
                        const SignatureOptions& options = {}) {
  absl::StatusOr<InferredSignature> inferred = InferSignature(graph, options);
  EXPECT_TRUE(inferred.ok()) << inferred.status();
  return inferred.ok() ? *std::move(inferred) : InferredSignature{};
}

graph::Graph Encoder(std::vector<std::string> symbols) {
  return GraphBuilder()
      .Input("x", {-1, -1, 4}, std::move(symbols))
      .Node("Relu", {"x"}, {"y"})
      .Ints("axes", {1})
      .Node("ReduceSum", {"x", "axes"}, {"z"})
      .Set("keepdims", int64_t{0})
      .Output("y")
      .Output("z")
      .Build();
}

TEST(InferSignatureTest, TheBatchAxisIsLeftOut) {
  const InferredSignature inferred = Infer(Encoder({"N", "S", ""}));
  EXPECT_EQ(inferred.not_batched, "");
  const Signature& signature = inferred.signature;
  EXPECT_TRUE(signature.batched);
  EXPECT_EQ(signature.inputs[0].dims, (Dims{-1, 4}));
  EXPECT_THAT(signature.inputs[0].symbols, ElementsAre("S", ""));
  EXPECT_THAT(signature.free_symbols, ElementsAre("S"));
  EXPECT_EQ(signature.outputs[0].dims, (Dims{-1, 4}));
  EXPECT_THAT(signature.outputs[0].symbols, ElementsAre("S", ""));
  EXPECT_EQ(signature.outputs[1].dims, (Dims{4}));
}

TEST(InferSignatureTest, UnnamedDimsAreNamedAfterTensorAndAxis) {
  EXPECT_THAT(Infer(Encoder({})).signature.free_symbols, ElementsAre("x[1]"));
}

TEST(InferSignatureTest, NamesSharedWithOutputsProveNothing) {
  // The output's axis 0 bears the batch's name and is not the batch.
  graph::Graph graph = GraphBuilder(13)
                           .Input("x", {-1, 4}, {"N", ""})
                           .Node("Transpose", {"x"}, {"y"})
                           .Output("y", {-1, -1})
                           .Build();
  graph.values[1].symbols = {"N", "M"};
  const InferredSignature inferred = Infer(graph);
  EXPECT_FALSE(inferred.signature.batched);
  EXPECT_THAT(inferred.not_batched, HasSubstr("axis 0"));
  EXPECT_THAT(inferred.signature.free_symbols, ElementsAre("N"));
  EXPECT_EQ(inferred.signature.outputs[0].dims, (Dims{4, -1}));
  EXPECT_THAT(inferred.signature.outputs[0].symbols, ElementsAre("", "N"));
}

TEST(InferSignatureTest, OtherNamesForTheBatchDoNotMatter) {
  graph::Graph graph = GraphBuilder()
                           .Input("x", {-1, 4}, {"in.0", ""})
                           .Node("Relu", {"x"}, {"y"})
                           .Output("y", {-1, 4})
                           .Build();
  graph.values[1].symbols = {"out.3", ""};
  EXPECT_TRUE(Infer(graph).signature.batched);
}

TEST(InferSignatureTest, AFixedFirstAxisIsNoBatch) {
  const InferredSignature inferred = Infer(GraphBuilder()
                                               .Input("x", {1, 4})
                                               .Node("Relu", {"x"}, {"y"})
                                               .Output("y")
                                               .Build());
  EXPECT_EQ(inferred.not_batched, "axis 0 of input 'x' is fixed at 1");
  EXPECT_EQ(inferred.signature.inputs[0].dims, (Dims{1, 4}));
}

TEST(InferSignatureTest, ADeclaredOutputOfOneRowIsNoBatch) {
  EXPECT_THAT(Infer(GraphBuilder()
                        .Input("x", {-1, 4})
                        .Node("Relu", {"x"}, {"y"})
                        .Output("y", {1, 4})
                        .Build(),
                    {{{"x[0]", 1}}, true})
                  .not_batched,
              HasSubstr("fixed at 1"));
}

TEST(InferSignatureTest, TheConfigurationFixesDimsAndForbidsBatching) {
  SignatureOptions options;
  options.fixed_dims["S"] = 7;
  const InferredSignature fixed = Infer(Encoder({"N", "S", ""}), options);
  EXPECT_TRUE(fixed.signature.batched);
  EXPECT_EQ(fixed.signature.inputs[0].dims, (Dims{7, 4}));
  EXPECT_THAT(fixed.signature.free_symbols, IsEmpty());
  options.allow_batch = false;
  const InferredSignature plain = Infer(Encoder({"N", "S", ""}), options);
  EXPECT_FALSE(plain.signature.batched);
  EXPECT_EQ(plain.not_batched, "");
  EXPECT_EQ(plain.signature.inputs[0].dims, (Dims{-1, 7, 4}));
}

TEST(InferSignatureTest, TheBatchsNameElsewhereForbidsBatching) {
  EXPECT_THAT(Infer(GraphBuilder()
                        .Input("x", {-1, -1}, {"N", "N"})
                        .Node("Relu", {"x"}, {"y"})
                        .Output("y")
                        .Build())
                  .not_batched,
              HasSubstr("'N' names axis 0 and axis 1"));
}

TEST(InferSignatureTest, DimsThatAreComputedHaveNamesOfTheirOwn) {
  const InferredSignature inferred =
      Infer(GraphBuilder()
                .Input("x", {-1, 1, -1}, {"N", "", "T"})
                .Constant("w", FloatTensor({1, 1, 2}, {1, 1}))
                .Node("Conv", {"x", "w"}, {"y"})
                .Set("strides", std::vector<int64_t>{2})
                .Output("y")
                .Build());
  EXPECT_TRUE(inferred.signature.batched);
  EXPECT_EQ(inferred.signature.outputs[0].dims, (Dims{1, -1}));
  EXPECT_THAT(inferred.signature.outputs[0].symbols, ElementsAre("", "y[2]"));
}

TEST(InferSignatureTest, AModelThatFitsNothingIsRefusedWithItsNode) {
  EXPECT_THAT(InferSignature(GraphBuilder()
                                 .Input("x", {-1, 3})
                                 .Constant("w", FloatTensor({2, 1}, {1, 1}))
                                 .Node("MatMul", {"x", "w"}, {"y"})
                                 .Output("y")
                                 .Build(),
                             {}),
              StatusIs(kInvalid, HasSubstr("node 0 (MatMul)")));
  graph::Graph shapeless = GraphBuilder()
                               .Input("x", {})
                               .Node("Relu", {"x"}, {"y"})
                               .Output("y")
                               .Build();
  shapeless.values[0].has_shape = false;
  EXPECT_THAT(InferSignature(shapeless, {}),
              StatusIs(kInvalid, HasSubstr("input 'x' has no declared dims")));
}

}  // namespace
}  // namespace reprise::ops
