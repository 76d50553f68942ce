#include "runtime/onnx/limits.h"

#include <string>

#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::onnx_import {
namespace {

using ::testing::AllOf;
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

// Before a tensor is read: the file of external data need not even exist.
TEST(LimitsTest, ConstantsAreCountedTogetherWhereverTheyLie) {
  OnnxBuilder model(13);
  model.Floats("w", {2}, {1, 2});
  onnx::TensorProto& typed = *model.graph().add_initializer();
  typed.set_data_type(onnx::TensorProto::INT8);
  typed.add_dims(3);
  for (int i = 0; i < 3; ++i) typed.add_int32_data(i);
  model.Node("Constant", {}, {"c"}, "c1");
  onnx::AttributeProto& attribute = *model.last_node().add_attribute();
  attribute.set_name("value");
  attribute.mutable_t()->set_data_type(onnx::TensorProto::INT64);
  attribute.mutable_t()->add_int64_data(7);
  onnx::TensorProto& external = *model.graph().add_initializer();
  external.set_name("far");
  external.set_data_type(onnx::TensorProto::FLOAT16);
  external.add_dims(500);
  external.set_data_location(onnx::TensorProto::EXTERNAL);
  ImportLimits limits;
  limits.max_constant_bytes = 8 + 3 + 8 + 1000;
  EXPECT_TRUE(CheckLimits(model.proto(), limits).ok());
  limits.max_constant_bytes -= 1;
  EXPECT_THAT(CheckLimits(model.proto(), limits),
              StatusIs(kExhausted, AllOf(HasSubstr("1019 bytes together"),
                                         HasSubstr("'far', has 1000"),
                                         HasSubstr("1018 are"))));
}

TEST(LimitsTest, DimsWithoutDataCountAsNoneAndSumsAreBounded) {
  OnnxBuilder model(13);
  onnx::TensorProto& hollow = *model.graph().add_initializer();
  hollow.set_data_type(onnx::TensorProto::FLOAT);
  hollow.add_dims(int64_t{1} << 60);
  EXPECT_TRUE(CheckLimits(model.proto(), {}).ok());  // refused when it is read
  for (int i = 0; i < 9; ++i) {
    onnx::TensorProto& external = *model.graph().add_initializer();
    external = hollow;
    external.set_data_location(onnx::TensorProto::EXTERNAL);
  }
  EXPECT_THAT(CheckLimits(model.proto(), {}), StatusIs(kExhausted));
}

}  // namespace
}  // namespace reprise::onnx_import
