#include "server/grpc/infer_request.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "tests/server/grpc/request_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = InferParameter::Kind;

ModelInferRequest Everything() {
  ModelInferRequest message = SimpleRequest();
  message.set_model_version("3");
  message.set_id("id-\xc3\xa9");
  auto& parameters = *message.mutable_parameters();
  parameters["b"].set_bool_param(true);
  parameters["i"].set_int64_param(-5);
  parameters["s"].set_string_param("text");
  parameters["d"].set_double_param(1.5);
  parameters["u"].set_uint64_param(UINT64_MAX);
  parameters["none"];
  (*message.mutable_inputs(0)->mutable_parameters())["k"].set_int64_param(1);
  message.add_outputs()->set_name("OUTPUT1");
  (*message.mutable_outputs(0)->mutable_parameters())["classification"]
      .set_int64_param(2);
  message.mutable_inputs(1)->mutable_contents()->add_int_contents(7);
  return message;
}

const InferParameter& Find(const InferParameters& parameters,
                           absl::string_view key) {
  for (const auto& [k, value] : parameters) {
    if (k == key) return value;
  }
  static const InferParameter none;
  ADD_FAILURE() << key;
  return none;
}

void Check(const InferRequest& request) {
  EXPECT_EQ(request.model_name, "simple");
  EXPECT_EQ(request.model_version, "3");
  EXPECT_EQ(request.id, "id-\xc3\xa9");
  EXPECT_EQ(Find(request.parameters, "b").kind, Kind::kBool);
  EXPECT_EQ(Find(request.parameters, "i").int64(), -5);
  EXPECT_EQ(Find(request.parameters, "s").text, "text");
  EXPECT_EQ(Find(request.parameters, "d").kind, Kind::kDouble);
  EXPECT_EQ(Find(request.parameters, "u").number, UINT64_MAX);
  EXPECT_EQ(Find(request.parameters, "none").kind, Kind::kNone);
  ASSERT_EQ(request.inputs.size(), 2u);
  EXPECT_EQ(request.inputs[0].name, "INPUT0");
  EXPECT_EQ(request.inputs[0].datatype, "INT32");
  EXPECT_THAT(request.inputs[0].shape, ElementsAre(1, 16));
  EXPECT_EQ(Find(request.inputs[0].parameters, "k").int64(), 1);
  EXPECT_TRUE(request.inputs[0].contents.empty());
  EXPECT_EQ(request.inputs[1].contents.size(), 1u);
  ASSERT_EQ(request.outputs.size(), 1u);
  EXPECT_EQ(request.outputs[0].name, "OUTPUT1");
  EXPECT_EQ(Find(request.outputs[0].parameters, "classification").int64(), 2);
  ASSERT_EQ(request.raw.size(), 2u);
  EXPECT_EQ(request.raw[1].bytes, 64);
}

TEST(InferRequestTest, ParsesWhatProtobufWrites) {
  const Pieces pieces(Everything().SerializeAsString());
  InferRequest request;
  ASSERT_THAT(ParseInferRequest(pieces.spans(), request), IsOk());
  Check(request);
}

TEST(InferRequestTest, ParsesTheSameHoweverTheMessageIsCut) {
  const std::string bytes = Everything().SerializeAsString();
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    const Pieces pieces(bytes, random);
    InferRequest request;
    ASSERT_THAT(ParseInferRequest(pieces.spans(), request), IsOk());
    Check(request);
  }
}

TEST(InferRequestTest, SkipsUnknownFieldsAndTakesTheLastOfAScalar) {
  std::string bytes = SimpleRequest().SerializeAsString();
  bytes +=
      "\xfa\x01\x03"  // field 31, length 3
      "abc";
  bytes += "\x0a\x05other";  // model_name again
  const Pieces pieces(bytes);
  InferRequest request;
  ASSERT_THAT(ParseInferRequest(pieces.spans(), request), IsOk());
  EXPECT_EQ(request.model_name, "other");
}

TEST(InferRequestTest, AcceptsShapesThatAreNotPacked) {
  std::string input("\x0a\x01x\x18\x02\x18\x03");
  const Pieces pieces(absl::StrCat(
      "\x2a", std::string(1, static_cast<char>(input.size())), input));
  InferRequest request;
  ASSERT_THAT(ParseInferRequest(pieces.spans(), request), IsOk());
  EXPECT_THAT(request.inputs.at(0).shape, ElementsAre(2, 3));
}

TEST(InferRequestTest, EveryCutOffMessageIsRefusedOrShorter) {
  const std::string bytes = Everything().SerializeAsString();
  int refused = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    const Pieces pieces(bytes.substr(0, length));
    InferRequest request;
    const absl::Status status = ParseInferRequest(pieces.spans(), request);
    if (status.ok()) continue;  // it ends between two fields
    ++refused;
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()) - 20);
}

TEST(InferRequestTest, GarbageIsRefusedAndNeverRead) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_int_distribution<size_t> at;
  const std::string good = Everything().SerializeAsString();
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 4; ++k) {
      bytes[at(random) % bytes.size()] = static_cast<char>(byte(random));
    }
    const Pieces pieces(bytes, random);
    InferRequest request;
    const absl::Status status = ParseInferRequest(pieces.spans(), request);
    if (!status.ok()) {
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("not a ModelInferRequest"));
    }
  }
}

TEST(InferRequestTest, TextMustBeUtf8) {
  for (const std::string& name :
       {std::string("\xff"), std::string("\xc0\x80"),
        std::string("\xed\xa0\x80"), std::string("\xf5\x80\x80\x80"),
        std::string("\xe2\x82")}) {
    const Pieces pieces(absl::StrCat(
        "\x0a", std::string(1, static_cast<char>(name.size())), name));
    InferRequest request;
    EXPECT_THAT(ParseInferRequest(pieces.spans(), request),
                StatusIs(absl::StatusCode::kInternal));
  }
}

}  // namespace
}  // namespace reprise::testing
