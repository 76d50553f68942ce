#include "runtime/onnx/importer.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/graph/print.h"
#include "runtime/ops/infer_signature.h"
#include "tests/testing/onnx_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::OnnxBuilder;
using ::testing::SizeIs;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

absl::StatusOr<graph::Graph> Import(const OnnxBuilder& model,
                                    const ImportOptions& options = {}) {
  return ImportModel(model.Bytes(), options);
}

// x -> Relu -> y
OnnxBuilder Relu(int opset = 13, int ir_version = 8) {
  OnnxBuilder model(opset, ir_version);
  model.Input("x", {"N", 4}).Node("Relu", {"x"}, {"y"}).Output("y", {"N", 4});
  return model;
}

TEST(ImporterTest, ASmallModelAsText) {
  OnnxBuilder model(13);
  model.Input("x", {"N", 2})
      .Floats("w", {2, 3}, {1, 2, 3, 4, 5, 6})
      .Node("MatMul", {"x", "w"}, {"m"}, "fc")
      .Node("Clip", {"m", "", "six"}, {"y"})
      .Floats("six", {}, {6})
      .Output("y", {"M", 3});
  const absl::StatusOr<graph::Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph::PrintGraph(*graph),
            "input x FP32 [N,2]\n"
            "constant w FP32 [2,3]\n"
            "constant six FP32 []\n"
            "node 0 'fc' MatMul@13 (x, w) -> (m)\n"
            "node 1 Clip@13 (m, -, six) -> (y)\n"
            "output y FP32 [M,3]\n");
}

TEST(ImporterTest, VersionsOutOfRangeAreNamed) {
  EXPECT_THAT(Import(Relu(7, 3)), IsOk());
  EXPECT_THAT(Import(Relu(23, 13)), IsOk());
  EXPECT_THAT(Import(Relu(6)),
              StatusIs(kUnimplemented, HasSubstr("opset 6; 7 to 23")));
  EXPECT_THAT(Import(Relu(24)), StatusIs(kUnimplemented));
  EXPECT_THAT(Import(Relu(13, 2)),
              StatusIs(kUnimplemented, HasSubstr("IR version 2; 3 to 13")));
  EXPECT_THAT(Import(Relu(13, 14)), StatusIs(kUnimplemented));
}

TEST(ImporterTest, UnusedVendorOpsetsAreAcceptedUsedOnesAreNamed) {
  OnnxBuilder model = Relu();
  for (const char* domain : {"com.microsoft.nchwc", "ai.onnx.training"}) {
    onnx::OperatorSetIdProto& import = *model.proto().add_opset_import();
    import.set_domain(domain);
    import.set_version(1);
  }
  EXPECT_THAT(Import(model), IsOk());
  model.Node("Conv", {"x"}, {"z"}, "vendor");
  model.last_node().set_domain("com.microsoft.nchwc");
  EXPECT_THAT(
      Import(model),
      StatusIs(kUnimplemented,
               AllOf(HasSubstr("node 1 'vendor'"),
                     HasSubstr("unsupported operator com.microsoft.nchwc::"
                               "Conv"))));
}

TEST(ImporterTest, AnUnknownOperatorBeforeOthersIsStillNamedFirst) {
  OnnxBuilder model(13);
  model.Input("x", {4})
      .Node("Custom", {"x"}, {"c"})
      .Node("OneHotEncoder", {"c"}, {"y"})
      .Output("y", {4});
  model.graph().mutable_node(0)->set_domain("com.acme");
  model.graph().mutable_node(1)->set_domain("ai.onnx.ml");
  EXPECT_THAT(Import(model),
              StatusIs(kUnimplemented, HasSubstr("com.acme::Custom")));
}

TEST(ImporterTest, ControlFlowIsRefusedByName) {
  for (const char* op : {"If", "Loop", "Scan"}) {
    OnnxBuilder model(13);
    model.Input("x", {4}).Node(op, {"x"}, {"y"}, "flow").Output("y", {4});
    model.last_node().add_attribute()->mutable_g()->add_node();
    EXPECT_THAT(
        Import(model),
        StatusIs(kUnimplemented, AllOf(HasSubstr("'flow'"), HasSubstr(op))));
  }
}

TEST(ImporterTest, TheDefaultDomainHasTwoNamesAndOneVersion) {
  OnnxBuilder model = Relu();
  model.last_node().set_domain("ai.onnx");
  EXPECT_THAT(Import(model), IsOk());
  onnx::OperatorSetIdProto& again = *model.proto().add_opset_import();
  again.set_domain("ai.onnx");
  again.set_version(12);
  EXPECT_THAT(Import(model), StatusIs(kInvalid, HasSubstr("two opsets")));
  OnnxBuilder none = Relu();
  none.proto().clear_opset_import();
  EXPECT_THAT(Import(none), StatusIs(kInvalid, HasSubstr("no opset")));
}

TEST(ImporterTest, InitializersAmongTheInputsAreConstants) {
  for (const int ir_version : {3, 8}) {
    OnnxBuilder model(9, ir_version);
    model.Input("data", {1, 2})
        .Input("w", {2, 2})
        .Floats("w", {2, 2}, {1, 2, 3, 4})
        .Node("MatMul", {"data", "w"}, {"y"})
        .Output("y", {1, 2});
    const absl::StatusOr<graph::Graph> graph = Import(model);
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_THAT(graph->inputs, SizeIs(1));
    EXPECT_EQ(graph->values[static_cast<size_t>(graph->inputs[0])].name,
              "data");
    // Before IR 4 nobody could have given another value.
    EXPECT_EQ(graph->defaulted_inputs, ir_version < 4
                                           ? std::vector<std::string>()
                                           : std::vector<std::string>{"w"});
  }
}

TEST(ImporterTest, ConstantNodesAreConstants) {
  OnnxBuilder model(13);
  model.Node("Constant", {}, {"c"})
      .Ints("value_ints", {-1})
      .Input("x", {2, 2})
      .Node("Reshape", {"x", "c"}, {"y"})
      .Output("y", {4});
  const absl::StatusOr<graph::Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->nodes, SizeIs(1));
  EXPECT_EQ(graph->nodes[0].index, 1);
}

TEST(ImporterTest, NodesMayComeInAnyOrderButNotInACircle) {
  OnnxBuilder model(13);
  model.Input("x", {4})
      .Node("Relu", {"a"}, {"y"})
      .Node("Exp", {"x"}, {"a"})
      .Output("y", {4});
  const absl::StatusOr<graph::Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes[0].op, "Exp");
  OnnxBuilder circle(13);
  circle.Node("Relu", {"a"}, {"b"}).Node("Exp", {"b"}, {"a"}).Output("a", {4});
  EXPECT_THAT(Import(circle), StatusIs(kInvalid, HasSubstr("cycle")));
}

TEST(ImporterTest, ContradictionsAreNamed) {
  EXPECT_THAT(Import(OnnxBuilder(13)
                         .Input("x", {4})
                         .Node("Relu", {"z"}, {"y"})
                         .Output("y", {4})),
              StatusIs(kInvalid, HasSubstr("node 0 (Relu): input 0 'z' is")));
  EXPECT_THAT(Import(Relu().Node("Exp", {"x"}, {"y"})),
              StatusIs(kInvalid, HasSubstr("the name 'y' is given twice")));
  EXPECT_THAT(Import(Relu().Input("x", {4})),
              StatusIs(kInvalid, HasSubstr("'x' is given twice")));
  EXPECT_THAT(Import(Relu().Output("z", {4})),
              StatusIs(kInvalid, HasSubstr("output 'z': is made by nothing")));
  EXPECT_THAT(Import(Relu().Output("y", {4})),
              StatusIs(kInvalid, HasSubstr("listed twice")));
  EXPECT_THAT(
      Import(Relu().Node("Add", {"x"}, {"z"}, "sum")),
      StatusIs(kInvalid, HasSubstr("node 1 'sum' (Add): has 1 inputs")));
  EXPECT_THAT(Import(OnnxBuilder(13).Input("x", {4})),
              StatusIs(kInvalid, HasSubstr("no outputs")));
  EXPECT_THAT(Import(Relu().Floats("w", {2}, {1})),
              StatusIs(kInvalid, HasSubstr("initializer 'w': is FP32 [2]")));
}

TEST(ImporterTest, NamesThatClientsSeeMustBeUtf8) {
  EXPECT_THAT(Import(OnnxBuilder(13)
                         .Input("x\xff", {4})
                         .Node("Relu", {"x\xff"}, {"y"})
                         .Output("y", {4})),
              StatusIs(kInvalid, HasSubstr("input 'x\\xff': has a name that")));
  EXPECT_THAT(
      Import(OnnxBuilder(13)
                 .Input("x", {4})
                 .Node("Relu", {"x"}, {"y\xff"})
                 .Output("y\xff", {4})),
      StatusIs(kInvalid, HasSubstr("output 'y\\xff': has a name that")));
  EXPECT_THAT(Import(OnnxBuilder(13)
                         .Input("x", {"N\xff", 4})
                         .Node("Relu", {"x"}, {"y"})
                         .Output("y", {"N", 4})),
              StatusIs(kInvalid, HasSubstr("has the dim 'N\\xff'")));
}

TEST(ImporterTest, ANodesNameIsShownInUtf8) {
  EXPECT_THAT(Import(Relu().Node("Add", {"x"}, {"z"}, "sum\xff")),
              StatusIs(kInvalid, HasSubstr("node 1 'sum\\xff' (Add)")));
}

TEST(ImporterTest, AnInputWithoutADatatypeIsAnError) {
  OnnxBuilder model = Relu();
  model.graph().mutable_input(0)->clear_type();
  EXPECT_THAT(Import(model),
              StatusIs(kInvalid, HasSubstr("input 'x': has no type")));
}

TEST(ImporterTest, StringsOnlyPassThrough) {
  constexpr int kString = onnx::TensorProto::STRING;
  EXPECT_THAT(Import(OnnxBuilder(13)
                         .Input("x", {"N"}, kString)
                         .Node("Identity", {"x"}, {"y"})
                         .Output("y", {"N"}, kString)),
              IsOk());
  EXPECT_THAT(Import(OnnxBuilder(13)
                         .Input("x", {"N"}, kString)
                         .Node("Transpose", {"x"}, {"y"}, "t")
                         .Output("y", {"N"}, kString)),
              StatusIs(kUnimplemented, HasSubstr("node 0 't' (Transpose)")));
}

TEST(ImporterTest, SubgraphsOfOtherNodesAndSparseWeightsAreRefused) {
  OnnxBuilder model = Relu();
  model.graph().add_sparse_initializer();
  EXPECT_THAT(Import(model), StatusIs(kUnimplemented, HasSubstr("sparse")));
}

TEST(ImporterTest, BytesThatAreNoModelAreRefused) {
  EXPECT_THAT(ImportModel("", {}), StatusIs(kInvalid));
  EXPECT_THAT(ImportModel("hello", {}),
              StatusIs(kInvalid, HasSubstr("not an ONNX model")));
  const std::string whole = Relu().Bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ImportModel(whole.substr(0, size), {}).ok()) << size;
  }
}

TEST(ImporterTest, AnyFlippedByteIsAnErrorOrAModelNeverACrash) {
  const std::string whole = Relu().Floats("w", {2}, {1, 2}).Bytes();
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      const absl::StatusOr<graph::Graph> graph = ImportModel(broken, {});
      EXPECT_EQ(graph.ok(), graph.status().message().empty());
    }
  }
}

TEST(ImporterLimitsTest, FileNodesNamesRankBytesAndNesting) {
  const std::string bytes = Relu().Bytes();
  ImportOptions options;
  options.limits.max_file_bytes = static_cast<int64_t>(bytes.size());
  EXPECT_THAT(ImportModel(bytes, options), IsOk());
  options.limits.max_file_bytes -= 1;
  EXPECT_THAT(ImportModel(bytes, options),
              StatusIs(kExhausted, HasSubstr("the file has")));
  options = {};
  options.limits.max_nodes = 0;
  EXPECT_THAT(Import(Relu(), options), StatusIs(kExhausted));
  options = {};
  options.limits.max_name_bytes = 3;
  EXPECT_THAT(Import(Relu(), options), StatusIs(kExhausted));
  options = {};
  options.limits.max_rank = 1;
  EXPECT_THAT(Import(Relu(), options),
              StatusIs(kExhausted, HasSubstr("input 'x': has 2 axes")));
  options = {};
  options.limits.max_constant_bytes = 7;
  EXPECT_THAT(
      Import(Relu().Floats("w", {2}, {1, 2}), options),
      StatusIs(kExhausted, AllOf(HasSubstr("8 bytes"), HasSubstr("'w'"))));
  options = {};
  options.limits.max_message_depth = 3;
  EXPECT_THAT(Import(Relu(), options),
              StatusIs(kInvalid, HasSubstr("nests too deeply")));
}

TEST(ImporterTest, InputsAndOutputsAreCounted) {
  ImportOptions options;
  options.limits.max_tensors = 1;
  EXPECT_THAT(Import(Relu(), options), IsOk());
  EXPECT_THAT(
      Import(Relu().Input("z", {4}), options),
      StatusIs(kExhausted, HasSubstr("input 'z': is one more than the 1")));
  EXPECT_THAT(
      Import(Relu().Node("Exp", {"x"}, {"z"}).Output("z", {"N", 4}), options),
      StatusIs(kExhausted, HasSubstr("output 'z'")));
}

TEST(ImporterTest, NodesThatNoOutputNeedsAreCheckedAndDropped) {
  const auto graph =
      Import(Relu().Node("Exp", {"x"}, {"a"}).Node("Exp", {"a"}, {"b"}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->nodes, SizeIs(1));
  EXPECT_THAT(graph->values, SizeIs(2));
  EXPECT_THAT(Import(Relu().Node("Nothing", {"x"}, {"a"})),
              StatusIs(kUnimplemented));
}

class ExternalWeightsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "importer_weights";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  std::filesystem::path folder_;
};

TEST_F(ExternalWeightsTest, AreReadInTheFolderOfTheOptions) {
  OnnxBuilder model = Relu();
  onnx::TensorProto& w = *model.graph().add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::INT8);
  w.add_dims(3);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  model.Node("Identity", {"w"}, {"z"})
      .Output("z", {3}, onnx::TensorProto::INT8);
  ImportOptions options;
  options.folder = folder_.string();
  EXPECT_THAT(Import(model, options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("weights.bin")));
  Write("weights.bin", "abc");
  EXPECT_THAT(Import(model, options), IsOk());
  Write("weights.bin", "ab");
  EXPECT_THAT(Import(model, options),
              StatusIs(kInvalid, HasSubstr("initializer 'w'")));
  EXPECT_THAT(Import(model),
              StatusIs(kInvalid, HasSubstr("not read from a file")));
}

// What the whole front half makes of a model file.
absl::StatusOr<ops::InferredSignature> Signature(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  REPRISE_ASSIGN_OR_RETURN(const graph::Graph graph,
                           ImportModel(std::move(bytes), {}));
  return ops::InferSignature(graph, {});
}

// ONNX's own models, one operator each: they are served, or refused because
// something is not supported, with the node. None is called invalid.
TEST(ImporterModelsTest, OnnxsNodeModelsAreServedOrRefusedByName) {
  const std::filesystem::path root = "/usr/share/libonnx-testdata/data";
  if (!std::filesystem::exists(root)) {
    GTEST_SKIP() << "the package libonnx-testdata is not installed";
  }
  int served = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
    if (file.path().filename() != "model.onnx") continue;
    const auto signature = Signature(file.path().string());
    if (signature.ok()) ++served;
    const absl::Status status = signature.status();
    EXPECT_TRUE(status.ok() || absl::IsUnimplemented(status))
        << file.path() << " " << status;
    const std::string text(status.message());
    EXPECT_TRUE(status.ok() || text.find("node ") != std::string::npos ||
                text.find("put '") != std::string::npos ||
                text.find("opset") != std::string::npos)
        << file.path() << " " << status;
  }
  EXPECT_GE(served, 535);
}

// Real models, where they are there: `batched`, or a part of the reason why
// not.
TEST(ImporterModelsTest, RealModelsHaveTheirBatchAxis) {
  const std::filesystem::path root =
      std::filesystem::path(REPRISE_SOURCE_DIR) / ".." / "shared" / "models";
  if (!std::filesystem::exists(root)) {
    GTEST_SKIP() << "no folder of real models beside the checkout";
  }
  const std::vector<std::pair<std::string, std::string>> models = {
      {"light_densenet121", "axis 0 of input 'data_0' is fixed at 1"},
      {"light_resnet50", "fixed at 1"},
      {"light_seeded_shufflenet", "fixed at 1"},
      {"light_seeded_inception_v2", "fixed at 1"},
      {"magika_v3_3", ""},
      {"minilm_l3", ""},
      {"ppocr_cls", ""},
      {"melspectrogram", "(ReduceMax): reduces over the batch axis (0)"},
  };
  for (const auto& [name, reason] : models) {
    const auto signature = Signature((root / name / "model.onnx").string());
    ASSERT_TRUE(signature.ok()) << name << " " << signature.status();
    EXPECT_EQ(signature->signature.batched, reason.empty()) << name;
    EXPECT_THAT(signature->not_batched, HasSubstr(reason)) << name;
  }
}

}  // namespace
}  // namespace reprise::onnx_import
