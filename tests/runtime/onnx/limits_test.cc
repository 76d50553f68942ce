#include "runtime/onnx/limits.h"

#include <string>

#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::onnx_import {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::OnnxBuilder;
using testing::StatusIs;

constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

TEST(LimitsTest, NodesAreCountedInSubgraphsToo) {
  OnnxBuilder model(13);
  model.Node("If", {"c"}, {"y"});
  onnx::AttributeProto& body = *model.last_node().add_attribute();
  body.set_name("then_branch");
  body.mutable_g()->add_node()->set_op_type("Relu");
  body.mutable_g()->add_node()->set_op_type("Relu");
  ImportLimits limits;
  limits.max_nodes = 3;
  EXPECT_THAT(CheckLimits(model.proto(), limits), IsOk());
  limits.max_nodes = 2;
  EXPECT_THAT(CheckLimits(model.proto(), limits),
              StatusIs(kExhausted, HasSubstr("more than 2 nodes")));
}

TEST(LimitsTest, SubgraphsAreNestedOnlySoDeep) {
  OnnxBuilder model(13);
  onnx::GraphProto* graph = &model.graph();
  for (int depth = 0; depth < 5; ++depth) {
    graph = graph->add_node()->add_attribute()->mutable_g();
  }
  ImportLimits limits;
  limits.max_graph_depth = 5;
  EXPECT_THAT(CheckLimits(model.proto(), limits), IsOk());
  limits.max_graph_depth = 4;
  EXPECT_THAT(CheckLimits(model.proto(), limits),
              StatusIs(kExhausted, HasSubstr("more than 4 deep")));
}

TEST(LimitsTest, EveryKindOfNameIsBounded) {
  const std::string longest(4096, 'n');
  const std::string over = longest + "n";
  const ImportLimits limits;
  EXPECT_THAT(
      CheckLimits(OnnxBuilder(13).Node("Relu", {"x"}, {"y"}, longest).proto(),
                  limits),
      IsOk());
  for (OnnxBuilder model :
       {OnnxBuilder(13).Node("Relu", {"x"}, {"y"}, over),
        OnnxBuilder(13).Node(over, {"x"}, {"y"}),
        OnnxBuilder(13).Node("Relu", {over}, {"y"}),
        OnnxBuilder(13).Node("Relu", {"x"}, {over}),
        OnnxBuilder(13).Node("Relu", {"x"}, {"y"}).Int(over, 1),
        OnnxBuilder(13).Input(over, {1}), OnnxBuilder(13).Output(over, {1}),
        OnnxBuilder(13).Input("x", {over.c_str()}),
        OnnxBuilder(13).Floats(over, {0}, {})}) {
    EXPECT_THAT(CheckLimits(model.proto(), limits),
                StatusIs(kExhausted, HasSubstr("a name of 4097 bytes")));
  }
}

}  // namespace
}  // namespace reprise::onnx_import
