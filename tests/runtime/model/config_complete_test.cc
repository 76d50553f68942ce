#include "runtime/model/config_complete.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

struct Tensor {
  std::string name;
  Dims dims;
  std::vector<std::string> symbols;
};

graph::Graph MakeGraph(const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& outputs) {
  graph::Graph graph;
  const auto add = [&](const Tensor& tensor) {
    graph::Value value;
    value.name = tensor.name;
    value.has_shape = true;
    value.dims = tensor.dims;
    value.symbols = tensor.symbols;
    value.symbols.resize(tensor.dims.size());
    graph.values.push_back(value);
    return static_cast<graph::ValueId>(graph.values.size() - 1);
  };
  for (const Tensor& tensor : inputs) graph.inputs.push_back(add(tensor));
  for (const Tensor& tensor : outputs) graph.outputs.push_back(add(tensor));
  return graph;
}

// x [N, seq, 4], mask [N, seq] -> y [N, 10]
graph::Graph Encoder() {
  return MakeGraph(
      {{"x", {-1, -1, 4}, {"N", "seq", ""}}, {"mask", {-1, -1}, {"N", "seq"}}},
      {{"y", {-1, 10}, {"M", ""}}});
}

Signature EncoderSignature(bool batched) {
  Signature signature;
  signature.batched = batched;
  signature.inputs = {{"x", DType::kFp32, {-1, 4}, {"seq", ""}},
                      {"mask", DType::kInt64, {-1}, {"seq"}}};
  signature.outputs = {{"y", DType::kFp32, {10}, {""}}};
  if (!batched) {
    for (auto* tensors : {&signature.inputs, &signature.outputs}) {
      for (TensorSpec& spec : *tensors) {
        spec.dims.insert(spec.dims.begin(), -1);
        spec.symbols.insert(spec.symbols.begin(), "N");
      }
    }
  }
  signature.free_symbols = {"seq"};
  return signature;
}

ParsedConfig Parse(const std::string& text) {
  auto parsed = ParseConfigText(text);
  EXPECT_THAT(parsed, IsOk());
  return *std::move(parsed);
}

struct Requested {
  SignatureRequest request;
  std::vector<std::string> faults;
};

Requested Request(const std::string& text, const graph::Graph& graph,
                  bool strict = false) {
  const ParsedConfig config = Parse(text);
  std::vector<std::string> ignored;
  Requested requested;
  const ConfigParameters parameters =
      ReadParameters(config.proto, requested.faults, ignored);
  requested.request =
      RequestSignature(config, parameters, graph, strict, requested.faults);
  return requested;
}

TEST(RequestSignatureTest, TheConfigurationDecidesOnTheBatch) {
  const graph::Graph graph = Encoder();
  EXPECT_EQ(Request("", graph).request.batch, BatchRequest::kAllowed);
  EXPECT_EQ(Request("max_batch_size: 8", graph).request.batch,
            BatchRequest::kRequired);
  EXPECT_EQ(Request("max_batch_size: 0", graph).request.batch,
            BatchRequest::kForbidden);
  EXPECT_EQ(Request("", graph, /*strict=*/true).request.batch,
            BatchRequest::kForbidden);
  EXPECT_EQ(Request("input { name: 'mask' dims: [ -1 ] }", graph).request.batch,
            BatchRequest::kRequired);
  EXPECT_EQ(
      Request("input { name: 'mask' dims: [ -1, -1 ] }", graph).request.batch,
      BatchRequest::kForbidden);
  const Requested fixed =
      Request("parameters { key: 'dim.N' value { string_value: '3' } }", graph);
  EXPECT_EQ(fixed.request.batch, BatchRequest::kForbidden);
  EXPECT_THAT(fixed.request.options.fixed_dims, ElementsAre(Pair("N", 3)));
  EXPECT_FALSE(fixed.request.options.allow_batch);
}

TEST(RequestSignatureTest, DimsFixFreeOnes) {
  const Requested requested = Request(
      "max_batch_size: 8 input { name: 'x' dims: [ 128, 4 ] }", Encoder());
  EXPECT_THAT(requested.faults, IsEmpty());
  EXPECT_THAT(requested.request.options.fixed_dims,
              ElementsAre(Pair("seq", 128)));
  EXPECT_TRUE(requested.request.options.allow_batch);
}

TEST(RequestSignatureTest, ADimWithoutANameIsCalledByItsPlace) {
  const graph::Graph graph = MakeGraph({{"x", {-1, -1}, {"", ""}}}, {});
  EXPECT_THAT(Request("max_batch_size: 8 parameters { key: 'dim.x[1]' "
                      "value { string_value: '7' } }",
                      graph)
                  .request.options.fixed_dims,
              ElementsAre(Pair("x[1]", 7)));
}

TEST(RequestSignatureTest, FaultsNameTheTensorOrTheParameter) {
  const auto fault = [](const std::string& text) {
    const Requested requested = Request(text, Encoder());
    EXPECT_THAT(requested.faults, SizeIs(1)) << text;
    return requested.faults.empty() ? "" : requested.faults[0];
  };
  EXPECT_THAT(fault("max_batch_size: 8 input { name: 'x' dims: [ -1, 5 ] }"),
              AllOf(HasSubstr("input 'x'"), HasSubstr("[-1,5]"),
                    HasSubstr("at axis 2")));
  EXPECT_THAT(fault("max_batch_size: 8 input { name: 'x' dims: [ 1, -1 ] }"),
              HasSubstr("at axis 2"));  // a fixed dim is not free
  EXPECT_THAT(fault("max_batch_size: 8 input { name: 'x' dims: [ 4 ] }"),
              AllOf(HasSubstr("input 'x'"), HasSubstr("batch apart")));
  EXPECT_THAT(fault("max_batch_size: 8 input { name: 'x' dims: [ 3, 4 ] } "
                    "input { name: 'mask' dims: [ 5 ] }"),
              AllOf(HasSubstr("input 'mask'"), HasSubstr("'seq' is 5")));
  EXPECT_THAT(fault("max_batch_size: 8 parameters { key: 'dim.height' "
                    "value { string_value: '5' } }"),
              AllOf(HasSubstr("dim.height"), HasSubstr("it has seq")));
  EXPECT_THAT(fault("max_batch_size: 8 input { name: 'x' dims: [ 9, 4 ] } "
                    "parameters { key: 'dim.seq' value { string_value: "
                    "'1..8' } }"),
              AllOf(HasSubstr("dim.seq"), HasSubstr("outside the range")));
}

struct Completed {
  inference::ModelConfig config;
  Signature signature;
  std::vector<std::string> faults;
};

Completed Complete(const std::string& text, bool batched = true,
                   bool strict = false) {
  Completed completed;
  completed.signature = EncoderSignature(batched);
  CompletionOptions options;
  options.model = "enc";
  options.model_filename = "model.onnx";
  options.strict = strict;
  completed.config = CompleteConfig(Parse(text), options, completed.signature,
                                    completed.faults);
  return completed;
}

void ExpectProto(const inference::ModelConfig& config,
                 const std::string& text) {
  inference::ModelConfig expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &expected));
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(expected, config)) << difference;
}

TEST(CompleteConfigTest, AModelWithoutConfigurationIsCompleted) {
  const Completed completed = Complete("");
  EXPECT_THAT(completed.faults, IsEmpty());
  EXPECT_EQ(completed.signature.max_batch, 32);
  ExpectProto(completed.config, R"(
    name: "enc" platform: "onnxruntime_onnx" backend: "onnxruntime"
    version_policy { latest { num_versions: 1 } }
    max_batch_size: 32
    input { name: "x" data_type: TYPE_FP32 dims: [ -1, 4 ] }
    input { name: "mask" data_type: TYPE_INT64 dims: [ -1 ] }
    output { name: "y" data_type: TYPE_FP32 dims: [ 10 ] }
    instance_group { name: "enc_0" count: 1 kind: KIND_CPU }
    default_model_filename: "model.onnx"
    dynamic_batching { preferred_batch_size: 32 }
    optimization {
      input_pinned_memory { enable: true } output_pinned_memory { enable: true }
    }
  )");
}

TEST(CompleteConfigTest, AModelThatIsNotBatchedHasFullDims) {
  const Completed completed = Complete("", /*batched=*/false);
  EXPECT_THAT(completed.faults, IsEmpty());
  EXPECT_EQ(completed.config.max_batch_size(), 0);
  EXPECT_FALSE(completed.config.has_dynamic_batching());
  EXPECT_EQ(completed.signature.max_batch, 1);
  EXPECT_THAT(completed.config.input(0).dims(), ElementsAre(-1, -1, 4));
}

TEST(CompleteConfigTest, WhatIsGivenStays) {
  const Completed completed = Complete(R"(
    max_batch_size: 8
    input { name: "mask" dims: [ -1 ] }
    input { name: "x" data_type: TYPE_FP32 }
    output { name: "y" label_filename: "labels.txt" }
    instance_group { count: 2 kind: KIND_GPU } instance_group { name: "z" }
    version_policy { specific { versions: 3 } }
    default_model_filename: "net.onnx"
    optimization { input_pinned_memory { enable: false } }
  )");
  EXPECT_THAT(completed.faults, IsEmpty());
  EXPECT_EQ(completed.signature.max_batch, 8);
  ExpectProto(completed.config, R"(
    name: "enc" platform: "onnxruntime_onnx" backend: "onnxruntime"
    version_policy { specific { versions: 3 } }
    max_batch_size: 8
    input { name: "mask" data_type: TYPE_INT64 dims: [ -1 ] }
    input { name: "x" data_type: TYPE_FP32 dims: [ -1, 4 ] }
    output { name: "y" data_type: TYPE_FP32 dims: [ 10 ]
             label_filename: "labels.txt" }
    instance_group { name: "enc_0" count: 2 kind: KIND_GPU }
    instance_group { name: "z" count: 1 kind: KIND_CPU }
    default_model_filename: "net.onnx"
    optimization {
      input_pinned_memory { enable: false }
      output_pinned_memory { enable: true }
    }
  )");
}

TEST(CompleteConfigTest, CompletingTwiceChangesNothing) {
  const Completed once = Complete("dynamic_batching { priority_levels: 2 }");
  std::string text;
  ASSERT_TRUE(google::protobuf::TextFormat::PrintToString(once.config, &text));
  const Completed twice = Complete(text);
  EXPECT_THAT(twice.faults, IsEmpty());
  ExpectProto(twice.config, text);
}

TEST(CompleteConfigTest, FaultsNameTheTensor) {
  const auto fault = [](const std::string& text) {
    const Completed completed = Complete(text);
    EXPECT_THAT(completed.faults, SizeIs(1)) << text;
    return completed.faults.empty() ? "" : completed.faults[0];
  };
  const std::string inputs = "input { name: 'x' } input { name: 'mask' } ";
  EXPECT_THAT(fault("input { name: 'x' }"),
              AllOf(HasSubstr("input 'mask'"), HasSubstr("missing")));
  EXPECT_THAT(fault(inputs + "input { name: 'z' }"),
              AllOf(HasSubstr("input 'z'"), HasSubstr("x, mask")));
  EXPECT_THAT(fault("output { name: 'z' }"),
              AllOf(HasSubstr("output 'z'"), HasSubstr("which has y")));
  EXPECT_THAT(fault("input { name: 'x' data_type: TYPE_FP16 } "
                    "input { name: 'mask' }"),
              AllOf(HasSubstr("input 'x'"), HasSubstr("TYPE_FP16"),
                    HasSubstr("TYPE_FP32")));
  EXPECT_THAT(fault("output { name: 'y' data_type: TYPE_INT8 }"),
              HasSubstr("output 'y'"));
  EXPECT_THAT(
      fault("output { name: 'y' dims: [ 11 ] }"),
      AllOf(HasSubstr("output 'y'"), HasSubstr("[11]"), HasSubstr("[10]")));
  EXPECT_THAT(fault("output { name: 'y' dims: [ 1, 10 ] }"),
              HasSubstr("output 'y'"));
  EXPECT_THAT(fault("dynamic_batching { preferred_batch_size: 64 }"),
              AllOf(HasSubstr("64"), HasSubstr("max_batch_size = 32")));
}

TEST(CompleteConfigTest, AnImageHasThreeDims) {
  const auto faults = [](const std::string& input, const Dims& dims) {
    CompletionOptions options;
    options.model = "m";
    Signature signature;
    signature.batched = true;
    signature.inputs = {{"x", DType::kFp32, dims, {}}};
    signature.inputs[0].symbols.resize(dims.size());
    signature.outputs = {{"y", DType::kFp32, {10}, {""}}};
    std::vector<std::string> found;
    CompleteConfig(Parse(absl::StrCat("max_batch_size: 8 input { name: 'x' ",
                                      input, " }")),
                   options, signature, found);
    return found;
  };
  EXPECT_THAT(faults("dims: [ 4, 5 ]", {4, 5}), IsEmpty());
  EXPECT_THAT(faults("dims: [ 3, 8, 8 ] format: FORMAT_NCHW", {3, 8, 8}),
              IsEmpty());
  EXPECT_THAT(faults("format: FORMAT_NHWC", {8, 8, 3}), IsEmpty());
  EXPECT_THAT(faults("dims: [ 4, 5 ] format: FORMAT_NCHW", {4, 5}),
              ElementsAre("input 'x': format FORMAT_NCHW requires 3 dims, the "
                          "batch apart, not [4,5]"));
  EXPECT_THAT(faults("format: FORMAT_NHWC", {1, 8, 8, 3}),
              ElementsAre(AllOf(HasSubstr("FORMAT_NHWC requires 3 dims"),
                                HasSubstr("[1,8,8,3]"))));
  EXPECT_THAT(faults("format: FORMAT_NHWC", {}),
              ElementsAre(HasSubstr("not []")));
}

TEST(CompleteConfigTest, StrictCompletesNothing) {
  EXPECT_THAT(Complete("", true, /*strict=*/true).faults, SizeIs(2));
  const Completed partial = Complete(
      "max_batch_size: 8 input { name: 'x' } input { name: 'mask' "
      "data_type: TYPE_INT64 dims: [ -1 ] } output { name: 'y' "
      "data_type: TYPE_FP32 dims: [ 10 ] }",
      true, /*strict=*/true);
  ASSERT_THAT(partial.faults, SizeIs(1));
  EXPECT_THAT(partial.faults[0], HasSubstr("input 'x'"));
}

TEST(KeepListedOutputsTest, DropsWhatIsNotListed) {
  graph::Graph graph = MakeGraph({}, {{"a", {1}, {}}, {"b", {1}, {}}});
  const auto names = [&] {
    std::vector<std::string> found;
    for (const graph::ValueId id : graph.outputs) {
      found.push_back(graph.values[static_cast<size_t>(id)].name);
    }
    return found;
  };
  inference::ModelConfig config;
  KeepListedOutputs(config, graph);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  config.add_output()->set_name("b");
  KeepListedOutputs(config, graph);
  EXPECT_THAT(names(), ElementsAre("b"));
  config.mutable_output(0)->set_name("z");
  KeepListedOutputs(config, graph);
  EXPECT_THAT(names(), ElementsAre("b"));
}

TEST(KeepListedOutputsTest, NodesOfOtherOutputsGoWithThem) {
  graph::Graph graph =
      MakeGraph({{"x", {1}, {}}}, {{"a", {1}, {}}, {"b", {1}, {}}});
  for (const graph::ValueId output : graph.outputs) {
    graph::Node node;
    node.op = "Relu";
    node.inputs = graph.inputs;
    node.outputs = {output};
    graph.nodes.push_back(std::move(node));
  }
  inference::ModelConfig config;
  config.add_output()->set_name("b");
  KeepListedOutputs(config, graph);
  ASSERT_THAT(graph.nodes, SizeIs(1));
  ASSERT_THAT(graph.values, SizeIs(2));
  EXPECT_EQ(graph.values[1].name, "b");
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre(1));
}

}  // namespace
}  // namespace reprise
