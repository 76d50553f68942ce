#include "runtime/onnx/convert.h"

#include <limits>
#include <string>

#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::onnx_import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::OnnxBuilder;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

WeightReader Reader() {
  return WeightReader("", 8, std::numeric_limits<int64_t>::max());
}

absl::StatusOr<graph::Attributes> Attributes(OnnxBuilder& model) {
  WeightReader reader = Reader();
  return ConvertAttributes(model.last_node(), reader);
}

TEST(ConvertAttributesTest, KeepsKindAndValue) {
  OnnxBuilder model(13);
  model.Node("Op", {}, {"y"})
      .Int("i", -3)
      .Float("f", 0.5f)
      .String("s", "text")
      .Ints("list", {1, 2});
  const absl::StatusOr<graph::Attributes> attributes = Attributes(model);
  ASSERT_TRUE(attributes.ok()) << attributes.status();
  EXPECT_THAT(attributes->Int("i"), IsOkAndHolds(-3));
  EXPECT_THAT(attributes->Float("f", 0), IsOkAndHolds(0.5f));
  EXPECT_THAT(attributes->String("s", ""), IsOkAndHolds("text"));
  EXPECT_THAT(attributes->Ints("list", {}), IsOkAndHolds(ElementsAre(1, 2)));
}

TEST(ConvertAttributesTest, TheKindMayBeLeftOut) {
  OnnxBuilder model(13);
  model.Node("Op", {}, {"y"}).Int("i", 5);
  model.last_node().mutable_attribute(0)->clear_type();
  EXPECT_THAT(Attributes(model)->Int("i"), IsOkAndHolds(5));
}

TEST(ConvertAttributesTest, FaultsNameTheAttribute) {
  OnnxBuilder twice(13);
  twice.Node("Op", {}, {"y"}).Int("i", 5).Int("i", 6);
  EXPECT_THAT(Attributes(twice),
              StatusIs(kInvalid, HasSubstr("attribute 'i' is given twice")));
  OnnxBuilder empty(13);
  empty.Node("Op", {}, {"y"});
  empty.last_node().add_attribute()->set_name("none");
  EXPECT_THAT(Attributes(empty),
              StatusIs(kInvalid, HasSubstr("attribute 'none': has no value")));
  OnnxBuilder body(13);
  body.Node("Op", {}, {"y"}).Int("body", 0);
  body.last_node().mutable_attribute(0)->set_type(onnx::AttributeProto::GRAPH);
  EXPECT_THAT(Attributes(body), StatusIs(kUnimplemented, HasSubstr("GRAPH")));
  OnnxBuilder reference(13);
  reference.Node("Op", {}, {"y"}).Int("i", 5);
  reference.last_node().mutable_attribute(0)->set_ref_attr_name("alpha");
  EXPECT_THAT(Attributes(reference),
              StatusIs(kInvalid, HasSubstr("outside of a function")));
}

TEST(ConvertTypeTest, DimsAreFixedNamedOrUnnamed) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 3, ""});
  graph::Value value;
  ASSERT_THAT(ConvertType(model.graph().input(0), 8, value), IsOk());
  EXPECT_TRUE(value.has_shape);
  EXPECT_EQ(value.dims, (Dims{kFreeDim, 3, kFreeDim}));
  EXPECT_THAT(value.symbols, ElementsAre("N", "", ""));
}

TEST(ConvertTypeTest, MissingTypesAreErrors) {
  graph::Value value;
  onnx::ValueInfoProto info;
  info.set_name("x");
  EXPECT_THAT(ConvertType(info, 8, value),
              StatusIs(kInvalid, HasSubstr("no type")));
  info.mutable_type();
  EXPECT_THAT(ConvertType(info, 8, value),
              StatusIs(kInvalid, HasSubstr("no type")));
  info.mutable_type()->mutable_tensor_type();
  EXPECT_THAT(ConvertType(info, 8, value),
              StatusIs(kInvalid, HasSubstr("no datatype")));
  info.mutable_type()->mutable_sequence_type();
  EXPECT_THAT(ConvertType(info, 8, value),
              StatusIs(kUnimplemented, HasSubstr("not a tensor")));
}

TEST(ConvertTypeTest, BadDimsAreErrors) {
  graph::Value value;
  OnnxBuilder negative(13);
  negative.Input("x", {1});
  negative.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(-1);
  EXPECT_THAT(ConvertType(negative.graph().input(0), 8, value),
              StatusIs(kInvalid, HasSubstr("negative dim -1")));
  OnnxBuilder deep(13);
  deep.Input("x", std::vector<testing::OnnxDim>(9, 1));
  EXPECT_THAT(ConvertType(deep.graph().input(0), 8, value),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(ConvertConstantTest, EveryForm) {
  WeightReader reader = Reader();
  OnnxBuilder model(13);
  model.Node("Constant", {}, {"y"}).Float("value_float", 2.5f);
  EXPECT_THAT(ConvertConstant(model.last_node(), reader)->values<float>(),
              ElementsAre(2.5f));
  model.Node("Constant", {}, {"y"}).Int("value_int", 7);
  EXPECT_EQ(ConvertConstant(model.last_node(), reader)->dims(), Dims{});
  model.Node("Constant", {}, {"y"}).Ints("value_ints", {7, 8});
  EXPECT_THAT(ConvertConstant(model.last_node(), reader)->values<int64_t>(),
              ElementsAre(7, 8));
  model.Node("Constant", {}, {"y"}).String("value_string", "s");
  EXPECT_EQ(ConvertConstant(model.last_node(), reader)->dtype(),
            DType::kString);
  model.Node("Constant", {}, {"y"});
  EXPECT_THAT(ConvertConstant(model.last_node(), reader),
              StatusIs(kInvalid, HasSubstr("0 attributes")));
  model.Node("Constant", {}, {"y"}).Int("wrong", 7);
  EXPECT_THAT(ConvertConstant(model.last_node(), reader),
              StatusIs(kInvalid, HasSubstr("'wrong' holds no value")));
}

}  // namespace
}  // namespace reprise::onnx_import
