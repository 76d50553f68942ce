#include "client/infer_message.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::StatusIs;
using ::testing::HasSubstr;

TEST(InferMessageTest, EncodesWhatWasAsked) {
  InferCall call;
  call.model = "m";
  call.version = "3";
  call.id = "me";
  call.inputs.push_back({"x", "INT8", {1, 2}, "ab"});
  call.outputs = {"y"};
  call.priority = 2;
  call.queue_timeout = absl::Milliseconds(5);
  const auto request = EncodeInfer(call);
  ASSERT_THAT(request, IsOk());
  EXPECT_EQ(request->model_name(), "m");
  EXPECT_EQ(request->model_version(), "3");
  EXPECT_EQ(request->id(), "me");
  EXPECT_EQ(request->inputs(0).name(), "x");
  EXPECT_EQ(request->inputs(0).datatype(), "INT8");
  EXPECT_EQ(request->inputs(0).shape(1), 2);
  EXPECT_EQ(request->raw_input_contents(0), "ab");
  EXPECT_EQ(request->outputs(0).name(), "y");
  EXPECT_EQ(request->parameters().at("priority").uint64_param(), 2U);
  EXPECT_EQ(request->parameters().at("timeout").int64_param(), 5000);
}

TEST(InferMessageTest, SendsNoParameterThatWasNotAsked) {
  EXPECT_TRUE(EncodeInfer(InferCall{})->parameters().empty());
}

TEST(InferMessageTest, RefusesAnInputThatDoesNotFitItself) {
  InferCall call;
  call.inputs.push_back({"x", "INT32", {2}, "abc"});
  EXPECT_THAT(EncodeInfer(call), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("tensor \"x\"")));
}

TEST(InferMessageTest, DecodesOutputsAtTheirIndex) {
  inference::ModelInferResponse response;
  response.set_model_name("m");
  response.set_model_version("3");
  for (const char* name : {"a", "b"}) {
    auto& output = *response.add_outputs();
    output.set_name(name);
    output.set_datatype("UINT8");
    output.add_shape(1);
    response.add_raw_output_contents(name);
  }
  const auto result = DecodeInfer(response);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->version, "3");
  EXPECT_EQ(result->outputs[1].name, "b");
  EXPECT_EQ(result->outputs[1].bytes, "b");

  response.add_raw_output_contents("c");
  EXPECT_THAT(DecodeInfer(response),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("2 outputs")));
}

TEST(InferMessageTest, AReplyThatDoesNotFitItselfIsInternal) {
  inference::ModelInferResponse response;
  auto& output = *response.add_outputs();
  output.set_name("a");
  output.set_datatype("FP32");
  output.add_shape(2);
  response.add_raw_output_contents("1234");
  EXPECT_THAT(DecodeInfer(response),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("\"a\"")));
}

}  // namespace
}  // namespace reprise::client
