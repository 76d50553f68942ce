#include "runtime/ops/bound_graph.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FloatTensor;
using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::StatusIs;

using Ints = std::vector<int64_t>;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Signature OneInput(bool batched, Dims dims, std::vector<std::string> symbols) {
  Signature signature;
  signature.batched = batched;
  symbols.resize(dims.size());
  signature.inputs = {{"x", DType::kFp32, dims, symbols}};
  for (const std::string& symbol : symbols) {
    if (!symbol.empty()) signature.free_symbols.push_back(symbol);
  }
  return signature;
}

TEST(BindTest, RowsAndSymbolsReachEveryValue) {
  const graph::Graph graph = GraphBuilder()
                                 .Input("x", {-1, -1, 3}, {"N", "S"})
                                 .Node("Relu", {"x"}, {"r"})
                                 .Node("Flatten", {"r"}, {"y"})
                                 .Output("y")
                                 .Build();
  const auto bound = Bind(graph, OneInput(true, {-1, 3}, {"S", ""}), 4,
                          std::vector<int64_t>{5});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(bound->types[0].dims, (Dims{4, 5, 3}));
  EXPECT_EQ(bound->types[2].dims, (Dims{4, 15}));
  EXPECT_THAT(bound->live, ElementsAre(true, true));
}

TEST(BindTest, ShapesAreCarriedAndTheirNodesAreNotLive) {
  const graph::Graph graph = GraphBuilder()
                                 .Input("x", {-1, 6})
                                 .Node("Shape", {"x"}, {"s"})
                                 .Ints("first", {0})
                                 .Node("Gather", {"s", "first"}, {"n"})
                                 .Ints("rest", {2, -1})
                                 .Node("Concat", {"n", "rest"}, {"target"})
                                 .Set("axis", int64_t{0})
                                 .Node("Reshape", {"x", "target"}, {"y"})
                                 .Node("Relu", {"y"}, {"unused"})
                                 .Output("y")
                                 .Build();
  const auto bound = Bind(graph, OneInput(true, {6}, {}), 7, {});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_THAT(bound->live, ElementsAre(false, false, false, true, false));
  const graph::ValueId y = graph.outputs[0];
  EXPECT_EQ(bound->types[static_cast<size_t>(y)].dims, (Dims{7, 2, 3}));
  EXPECT_EQ(bound->constants[static_cast<size_t>(y)], nullptr);
}

TEST(BindTest, ErrorsNameTheNode) {
  graph::Graph graph = GraphBuilder()
                           .Input("x", {-1, 6})
                           .Constant("w", FloatTensor({2, 1}, {1, 2}))
                           .Node("Relu", {"x"}, {"r"})
                           .Node("MatMul", {"r", "w"}, {"y"})
                           .Output("y")
                           .Build();
  graph.nodes[1].name = "fc";
  EXPECT_THAT(
      Bind(graph, OneInput(true, {6}, {}), 1, {}),
      StatusIs(kInvalid, AllOf(HasSubstr("node 1 'fc' (MatMul): "),
                               HasSubstr("[1,6] and [2,1] do not fit"))));
}

TEST(BindTest, ADataDependentShapeIsRefusedByName) {
  const graph::Graph graph = GraphBuilder()
                                 .Input("x", {6})
                                 .Input("s", {1}, {}, DType::kInt64)
                                 .Node("Reshape", {"x", "s"}, {"y"})
                                 .Output("y")
                                 .Build();
  Signature signature = OneInput(false, {6}, {});
  signature.inputs.push_back({"s", DType::kInt64, {1}, {""}});
  EXPECT_THAT(Bind(graph, signature, 1, {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("node 0 (Reshape): input 'shape' depends")));
}

TEST(BindTest, AFixedDeclaredOutputMustHold) {
  const auto graph = [](Dims declared) {
    return GraphBuilder()
        .Input("x", {-1, 6})
        .Node("Relu", {"x"}, {"y"})
        .Output("y", std::move(declared))
        .Build();
  };
  EXPECT_TRUE(Bind(graph({-1, 6}), OneInput(true, {6}, {}), 2, {}).ok());
  EXPECT_THAT(
      Bind(graph({-1, 7}), OneInput(true, {6}, {}), 2, {}),
      StatusIs(
          kInvalid,
          HasSubstr("output 'y' is [2,6], but the model declares [-1,7]")));
  EXPECT_THAT(Bind(graph({6}), OneInput(true, {6}, {}), 2, {}),
              StatusIs(kInvalid));
}

TEST(BindTest, TheSignatureMustBeTheGraphs) {
  const graph::Graph graph = GraphBuilder()
                                 .Input("x", {-1, 6})
                                 .Node("Relu", {"x"}, {"y"})
                                 .Output("y")
                                 .Build();
  EXPECT_THAT(Bind(graph, OneInput(true, {7}, {}), 2, {}),
              StatusIs(kInvalid, HasSubstr("input 'x' is [2,7]")));
  EXPECT_THAT(Bind(graph, Signature{}, 2, {}),
              StatusIs(kInvalid, HasSubstr("0 inputs")));
  EXPECT_THAT(Bind(graph, OneInput(true, {6}, {}), 2, std::vector<int64_t>{1}),
              StatusIs(kInvalid, HasSubstr("a variant of 1 dims")));
  Signature renamed = OneInput(true, {6}, {});
  renamed.inputs[0].name = "z";
  EXPECT_THAT(Bind(graph, renamed, 2, {}), StatusIs(kInvalid));
  Signature outputs = OneInput(true, {6}, {});
  outputs.outputs = {{"y", DType::kFp32, {5}, {""}}};
  EXPECT_THAT(Bind(graph, outputs, 2, {}),
              StatusIs(kInvalid, HasSubstr("but the signature says FP32 [5]")));
}

TEST(BindTest, SizesThatOverflowAreRefused) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_THAT(Bind(GraphBuilder()
                       .Input("x", {huge, huge})
                       .Node("Relu", {"x"}, {"y"})
                       .Output("y")
                       .Build(),
                   OneInput(false, {huge, huge}, {}), 1, {}),
              StatusIs(kInvalid, HasSubstr("input 'x'")));
  EXPECT_THAT(Bind(GraphBuilder()
                       .Input("x", {huge, 1})
                       .Node("Transpose", {"x"}, {"t"})
                       .Node("MatMul", {"x", "t"}, {"y"})
                       .Output("y")
                       .Build(),
                   OneInput(false, {huge, 1}, {}), 1, {}),
              StatusIs(kInvalid, HasSubstr("node 1 (MatMul)")));
}

// x [2,3] through one operator whose rank its constant `c` decides.
absl::Status BindOne(const std::string& op, const std::vector<int64_t>& c,
                     const Dims& dims = {2, 3}) {
  return Bind(GraphBuilder()
                  .Input("x", dims)
                  .Ints("c", c)
                  .Node(op, {"x", "c"}, {"y"})
                  .Output("y")
                  .Build(),
              OneInput(false, dims, {}), 1, {})
      .status();
}

TEST(BindTest, AxesBeyondTheBoundAreRefusedWithTheNode) {
  const auto refused =
      StatusIs(absl::StatusCode::kUnimplemented,
               AllOf(HasSubstr("node 0 ("), HasSubstr("9 axes; 8 are")));
  EXPECT_TRUE(BindOne("Reshape", {1, 1, 1, 1, 1, 1, 2, 3}).ok());
  EXPECT_THAT(BindOne("Reshape", {1, 1, 1, 1, 1, 1, 1, 2, 3}), refused);
  EXPECT_TRUE(BindOne("Unsqueeze", {0, 1, 2, 3, 4, 5}).ok());
  EXPECT_THAT(BindOne("Unsqueeze", {0, 1, 2, 3, 4, 5, 6}), refused);
  EXPECT_THAT(BindOne("Expand", {1, 1, 1, 1, 1, 1, 1, 2, 3}), refused);
  const Dims most(kMaxRank, 2);
  EXPECT_TRUE(BindOne("Tile", Ints(kMaxRank, 2), most).ok());
  EXPECT_THAT(Bind(GraphBuilder()
                       .Input("x", most)
                       .Ints("depth", {4})
                       .Constant("values", FloatTensor({2}, {0, 1}))
                       .Node("OneHot", {"x", "depth", "values"}, {"y"})
                       .Output("y")
                       .Build(),
                   OneInput(false, most, {}), 1, {}),
              refused);
}

TEST(BindTest, ManyLargeValuesAreNotAllCarried) {
  GraphBuilder builder;
  builder.Input("x", {2}).Node("Shape", {"x"}, {"v0"}).Ints("k", {1024});
  builder.Node("Expand", {"v0", "k"}, {"v1"});
  // One node more than 16 MiB are of 8 KiB each, then a shape.
  const int count = 2050;
  for (int i = 1; i < count; ++i) {
    builder.Node("Neg", {absl::StrCat("v", i)}, {absl::StrCat("v", i + 1)});
  }
  builder.Node("Shape", {absl::StrCat("v", count)}, {"last"}).Output("last");
  const auto graph = builder.Build();
  const auto bound = Bind(graph, OneInput(false, {2}, {}), 1, {});
  ASSERT_TRUE(bound.ok()) << bound.status();
  size_t bytes = 0;
  for (const auto& value : bound->constants) {
    if (value != nullptr) bytes += value->bytes().size();
  }
  EXPECT_LE(bytes, (size_t{16} << 20) + 64);
  EXPECT_GT(bytes, size_t{15} << 20);
  EXPECT_NE(bound->constants[static_cast<size_t>(graph.outputs[0])], nullptr);
}

}  // namespace
}  // namespace reprise::ops
