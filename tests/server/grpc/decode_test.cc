#include "server/grpc/decode.h"

#include <functional>
#include <limits>
#include <memory>
#include <random>

#include "server/grpc/bytes_tensor.h"
#include "server/grpc/infer_request.h"
#include "tests/server/fake_model_manager.h"
#include "tests/server/grpc/request_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Task final : public InferTask {
 public:
  void Complete(TaskResult /*result*/) override {}
};

// A request on its way through parser and decoder.
struct Decoded {
  Decoded(const ModelInferRequest& message, const ModelHandle& model)
      : pieces(message.SerializeAsString()) {
    Run(model);
  }
  Decoded(const ModelInferRequest& message, const ModelHandle& model,
          std::mt19937& random)
      : pieces(message.SerializeAsString(), random) {
    Run(model);
  }

  void Run(const ModelHandle& model) {
    task.arrival = absl::FromUnixSeconds(1000);
    status = ParseInferRequest(pieces.spans(), request);
    if (status.ok()) status = DecodeRequest(request, *model, decoded, task);
  }

  Pieces pieces;
  InferRequest request;
  DecodedRequest decoded;
  Task task;
  absl::Status status;
};

std::vector<std::string> Strings(const InputRows& rows) {
  std::vector<std::string> out;
  for (const StringRef& s : AsStrings(rows.pieces.at(0))) {
    out.emplace_back(s.data, s.size);
  }
  return out;
}

TEST(DecodeTest, AGoodRequestBecomesATaskInTheModelsOrder) {
  ModelInferRequest message = SimpleRequest(3);
  message.mutable_inputs()->SwapElements(0, 1);
  message.mutable_raw_input_contents()->SwapElements(0, 1);
  const Decoded d(message, MakeModel("simple", SimpleSignature()));
  ASSERT_THAT(d.status, IsOk());
  EXPECT_EQ(d.task.rows, 3);
  EXPECT_EQ(d.task.bytes, 2 * 3 * 16 * 4);
  EXPECT_THAT(d.task.variant, ElementsAre());
  const std::vector<std::byte> first = InputBytes(d.task, 0);
  int32_t last = 0;
  std::memcpy(&last, first.data() + 47 * 4, 4);
  EXPECT_EQ(last, 47);
  ASSERT_EQ(d.decoded.outputs.size(), 2u);
}

TEST(DecodeTest, TheSameTaskComesOutHoweverTheMessageIsCut) {
  const ModelHandle model = MakeModel("simple", SimpleSignature());
  const ModelInferRequest message = SimpleRequest(2);
  const Decoded whole(message, model);
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const Decoded cut(message, model, random);
    ASSERT_THAT(cut.status, IsOk());
    for (size_t k = 0; k < 2; ++k) {
      ASSERT_EQ(InputBytes(cut.task, k), InputBytes(whole.task, k));
    }
  }
}

struct BadCase {
  const char* name;
  std::function<void(ModelInferRequest&)> spoil;
  absl::StatusCode code;
  std::vector<std::string> texts;  // all of them are in the message
};

void PrintTo(const BadCase& bad, std::ostream* out) { *out << bad.name; }

inference::InferParameter& Parameter(ModelInferRequest& r, const char* key) {
  return (*r.mutable_parameters())[key];
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

std::vector<BadCase> BadNamesAndTypes() {
  return {
      {"unknown_input",
       [](auto& r) { r.mutable_inputs(0)->set_name("nope"); },
       kInvalid,
       {"unexpected input 'nope'", "'INPUT0', 'INPUT1'", "model 'simple'"}},
      {"missing_input",
       [](auto& r) {
         r.mutable_inputs()->RemoveLast();
         r.mutable_raw_input_contents()->RemoveLast();
       },
       kInvalid,
       {"expected 2 inputs, got 1", "'INPUT1'", "model 'simple'"}},
      {"no_inputs",
       [](auto& r) {
         r.clear_inputs();
         r.clear_raw_input_contents();
       },
       kInvalid,
       {"expected 2 inputs, got 0"}},
      {"input_twice",
       [](auto& r) { r.mutable_inputs(1)->set_name("INPUT0"); },
       kInvalid,
       {"input 'INPUT0' already exists in request"}},
      {"unknown_output",
       [](auto& r) { r.add_outputs()->set_name("nope"); },
       kInvalid,
       {"unexpected output 'nope'", "'OUTPUT0', 'OUTPUT1'"}},
      {"other_datatype",
       [](auto& r) { r.mutable_inputs(0)->set_datatype("FP32"); },
       kInvalid,
       {"unexpected datatype 'FP32'", "expected INT32", "'INPUT0'"}},
      {"unknown_datatype",
       [](auto& r) { r.mutable_inputs(0)->set_datatype("int32"); },
       kInvalid,
       {"unexpected datatype 'int32'", "expected INT32"}},
  };
}

std::vector<BadCase> BadShapes() {
  return {
      {"wrong_dim",
       [](auto& r) { r.mutable_inputs(0)->set_shape(1, 17); },
       kInvalid,
       {"unexpected shape of input 'INPUT0'", "expected [-1,16]", "[1,17]"}},
      {"wrong_rank",
       [](auto& r) { r.mutable_inputs(0)->add_shape(1); },
       kInvalid,
       {"expected [-1,16]", "got [1,16,1]"}},
      {"no_batch_dim",
       [](auto& r) {
         r.mutable_inputs(0)->clear_shape();
         r.mutable_inputs(0)->add_shape(16);
       },
       kInvalid,
       {"expected [-1,16]", "got [16]"}},
      {"scalar",
       [](auto& r) { r.mutable_inputs(0)->clear_shape(); },
       kInvalid,
       {"got []"}},
      {"negative_dim",
       [](auto& r) { r.mutable_inputs(0)->set_shape(1, -1); },
       kInvalid,
       {"every dimension must be given", "[1,-1]", "'INPUT0'"}},
      {"batch_0",
       [](auto& r) { r.mutable_inputs(0)->set_shape(0, 0); },
       kInvalid,
       {"batch 0 of input 'INPUT0'"}},
      {"batch_above_maximum",
       [](auto& r) { r.mutable_inputs(0)->set_shape(0, 9); },
       kInvalid,
       {"batch-size must be <= 8", "got 9"}},
      {"unequal_batches",
       [](auto& r) { r.mutable_inputs(1)->set_shape(0, 2); },
       kInvalid,
       {"unequal batch-size", "1 of input 'INPUT0'", "2 of input 'INPUT1'"}},
  };
}

std::vector<BadCase> BadData() {
  return {
      {"too_few_bytes",
       [](auto& r) { r.mutable_raw_input_contents(0)->pop_back(); },
       kInvalid,
       {"input 'INPUT0'", "byte size mismatch", "expected 64", "got 63"}},
      {"too_many_bytes",
       [](auto& r) { *r.mutable_raw_input_contents(1) += "xxxx"; },
       kInvalid,
       {"input 'INPUT1'", "byte size mismatch", "expected 64", "got 68"}},
      {"contents_beside_raw",
       [](auto& r) {
         r.mutable_inputs(0)->mutable_contents()->add_int_contents(1);
       },
       kInvalid,
       {"contents of input 'INPUT0' not allowed together with "
        "raw_input_contents"}},
      {"empty_contents_beside_raw",
       [](auto& r) { r.mutable_inputs(1)->mutable_contents(); },
       kInvalid,
       {"contents of input 'INPUT1' not allowed"}},
      {"no_data",
       [](auto& r) { r.clear_raw_input_contents(); },
       kInvalid,
       {"input 'INPUT0'", "no data found for the tensor"}},
      {"one_entry_missing",
       [](auto& r) { r.mutable_raw_input_contents()->RemoveLast(); },
       kInvalid,
       {"no data found for the tensor 'INPUT1'", "expected 2", "got 1"}},
      {"surplus_entry",
       [](auto& r) { r.add_raw_input_contents("x"); },
       kInvalid,
       {"expected 2 raw_input_contents", "got 3"}},
  };
}

std::vector<BadCase> BadParameters() {
  return {
      {"timeout_as_string",
       [](auto& r) { Parameter(r, "timeout").set_string_param("1"); },
       kInvalid,
       {"model 'simple': invalid value type for parameter 'timeout'",
        "int64_param", "string_param"}},
      {"reserved_key",
       [](auto& r) { Parameter(r, "triton_x").set_bool_param(true); },
       kInvalid,
       {"model 'simple': ", "'triton_x'", "reserved"}},
      {"shared_memory_input",
       [](auto& r) {
         (*r.mutable_inputs(0)->mutable_parameters())["shared_memory_region"]
             .set_string_param("r");
       },
       kUnimplemented,
       {"input 'INPUT0'", "shared memory is disabled"}},
      {"shared_memory_output",
       [](auto& r) {
         auto* output = r.add_outputs();
         output->set_name("OUTPUT0");
         (*output->mutable_parameters())["shared_memory_region"]
             .set_string_param("r");
       },
       kUnimplemented,
       {"output 'OUTPUT0'", "shared memory is disabled"}},
  };
}

class BadRequestTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadRequestTest, IsRefusedInWordsThatSayWhy) {
  ModelInferRequest message = SimpleRequest();
  GetParam().spoil(message);
  const Decoded d(message, MakeModel("simple", SimpleSignature()));
  EXPECT_EQ(d.status.code(), GetParam().code) << d.status;
  for (const std::string& text : GetParam().texts) {
    EXPECT_THAT(std::string(d.status.message()), HasSubstr(text));
  }
}

std::string NameOf(const ::testing::TestParamInfo<BadCase>& test) {
  return test.param.name;
}

INSTANTIATE_TEST_SUITE_P(NamesAndTypes, BadRequestTest,
                         ::testing::ValuesIn(BadNamesAndTypes()), NameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, BadRequestTest,
                         ::testing::ValuesIn(BadShapes()), NameOf);
INSTANTIATE_TEST_SUITE_P(Data, BadRequestTest, ::testing::ValuesIn(BadData()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Parameters, BadRequestTest,
                         ::testing::ValuesIn(BadParameters()), NameOf);

ModelInferRequest OneInput(const std::string& datatype,
                           const std::vector<int64_t>& shape,
                           const std::string& raw) {
  ModelInferRequest message;
  message.set_model_name("id");
  AddInput(message, "INPUT0", datatype, shape);
  message.add_raw_input_contents(raw);
  return message;
}

TEST(DecodeTest, AnElementCountThatOverflowsIsRefused) {
  const ModelHandle model =
      MakeModel("id", IdentitySignature(DType::kInt32, {kFreeDim}));
  const Decoded d(OneInput("INT32", {4, int64_t{1} << 62}, ""), model);
  EXPECT_THAT(d.status, StatusIs(kInvalid, HasSubstr("INPUT0")));
  const ModelHandle text =
      MakeModel("id", IdentitySignature(DType::kString, {kFreeDim}));
  EXPECT_THAT(
      Decoded(OneInput("BYTES", {1, int64_t{1} << 60}, ""), text).status,
      StatusIs(kInvalid, HasSubstr("string elements")));
}

TEST(DecodeTest, FreeDimsBecomeTheVariant) {
  const ModelHandle model =
      MakeModel("id", IdentitySignature(DType::kInt8, {kFreeDim}));
  const Decoded d(OneInput("INT8", {2, 3}, "abcdef"), model);
  ASSERT_THAT(d.status, IsOk());
  EXPECT_THAT(d.task.variant, ElementsAre(3));
}

TEST(DecodeTest, DimsOfOneSymbolMustBeEqualAndInRange) {
  Signature signature = IdentitySignature(DType::kInt8, {kFreeDim, kFreeDim});
  ModelConfig config;
  config.dims["n"] = {1, 4};
  const ModelHandle model = MakeModel("id", signature, config);
  EXPECT_THAT(Decoded(OneInput("INT8", {1, 2, 3}, "abcdef"), model).status,
              StatusIs(kInvalid, HasSubstr("expected n = 2")));
  EXPECT_THAT(
      Decoded(OneInput("INT8", {1, 5, 5}, std::string(25, 'x')), model).status,
      StatusIs(kInvalid, HasSubstr("n in 1..4")));
}

TEST(DecodeTest, WithoutBatchingTheWholeShapeIsTheModels) {
  const ModelHandle model = MakeModel(
      "id", IdentitySignature(DType::kInt8, {kFreeDim, 4}, /*batched=*/false));
  const Decoded d(OneInput("INT8", {2, 4}, "12345678"), model);
  ASSERT_THAT(d.status, IsOk());
  EXPECT_EQ(d.task.rows, 1);
  EXPECT_THAT(d.task.variant, ElementsAre(2));
  EXPECT_THAT(Decoded(OneInput("INT8", {0, 4}, ""), model).status, IsOk());
}

TEST(DecodeTest, StringsAreCheckedAndBorrowed) {
  const ModelHandle model =
      MakeModel("id", IdentitySignature(DType::kString, {kFreeDim}));
  const Decoded d(OneInput("BYTES", {1, 3}, RawStrings({"a", "", "xyz"})),
                  model);
  ASSERT_THAT(d.status, IsOk());
  EXPECT_THAT(Strings(d.task.inputs[0]), ElementsAre("a", "", "xyz"));
  EXPECT_EQ(d.task.inputs[0].bytes,
            3 * static_cast<int64_t>(sizeof(StringRef)));
  std::string cut = RawStrings({"a", "xyz"});
  cut.pop_back();
  EXPECT_THAT(Decoded(OneInput("BYTES", {1, 2}, cut), model).status,
              StatusIs(kInvalid, AllOf(HasSubstr("'INPUT0'"),
                                       HasSubstr("should have 3 bytes"))));
}

TEST(DecodeTest, TypedContentsBecomeRaw) {
  ModelInferRequest message;
  AddInput(message, "INPUT0", "INT16", {1, 2});
  auto* contents = message.mutable_inputs(0)->mutable_contents();
  contents->add_int_contents(-2);
  contents->add_int_contents(70000);  // keeps its low bytes
  const Decoded d(message,
                  MakeModel("id", IdentitySignature(DType::kInt16, {2})));
  ASSERT_THAT(d.status, IsOk());
  const std::vector<std::byte> bytes = InputBytes(d.task, 0);
  int16_t values[2];
  ASSERT_EQ(bytes.size(), sizeof(values));
  std::memcpy(values, bytes.data(), sizeof(values));
  EXPECT_THAT(values, ElementsAre(-2, 4464));
}

TEST(DecodeTest, OutputsAreInTheModelsOrderWithoutDuplicates) {
  ModelInferRequest message = SimpleRequest();
  for (const char* name : {"OUTPUT1", "OUTPUT0", "OUTPUT1"}) {
    message.add_outputs()->set_name(name);
  }
  const Decoded d(message, MakeModel("simple", SimpleSignature()));
  ASSERT_THAT(d.status, IsOk());
  ASSERT_EQ(d.decoded.outputs.size(), 2u);
  EXPECT_EQ(d.decoded.outputs[0].index, 0);
  EXPECT_EQ(d.decoded.outputs[1].index, 1);
}

TEST(DecodeTest, AnOutputMayBeAskedForTwiceInOneWayOnly) {
  const ModelHandle model = MakeModel("simple", SimpleSignature());
  ModelInferRequest message = SimpleRequest();
  const auto ask = [&message](int64_t top_k) {
    auto* output = message.add_outputs();
    output->set_name("OUTPUT0");
    if (top_k == 0) return;
    (*output->mutable_parameters())["classification"].set_int64_param(top_k);
  };
  ask(2);
  ask(2);
  const Decoded same(message, model);
  ASSERT_THAT(same.status, IsOk());
  ASSERT_EQ(same.decoded.outputs.size(), 1u);
  EXPECT_EQ(same.decoded.outputs[0].top_k, 2);
  for (const int64_t other : {0, 1}) {
    message.mutable_outputs()->RemoveLast();
    ask(other);
    EXPECT_THAT(
        Decoded(message, model).status,
        StatusIs(kInvalid, AllOf(HasSubstr("output 'OUTPUT0' already exists in "
                                           "request with other parameters"),
                                 HasSubstr("model 'simple'"))));
  }
  message.clear_outputs();
  ask(0);
  ask(1);
  EXPECT_THAT(Decoded(message, model).status,
              StatusIs(kInvalid, HasSubstr("already exists in request")));
}

TEST(DecodeTest, ClassificationOfStringsIsRefused) {
  ModelInferRequest message = OneInput("BYTES", {1, 1}, RawStrings({"a"}));
  auto* output = message.add_outputs();
  output->set_name("OUTPUT0");
  (*output->mutable_parameters())["classification"].set_int64_param(1);
  EXPECT_THAT(
      Decoded(message, MakeModel("id", IdentitySignature(DType::kString, {1})))
          .status,
      StatusIs(kInvalid, HasSubstr("BYTES")));
}

TEST(DecodeTest, TheQueueLimitIsTheRequestsTimeoutAlone) {
  ModelConfig config;  // its default is the queue's business
  config.batch.default_queue.default_timeout = absl::Milliseconds(5);
  const ModelHandle model = MakeModel("simple", SimpleSignature(), config);
  ModelInferRequest message = SimpleRequest();
  EXPECT_EQ(Decoded(message, model).task.queue_limit, absl::InfiniteFuture());
  Parameter(message, "timeout").set_int64_param(9000);
  const Decoded decoded(message, model);
  EXPECT_EQ(decoded.task.queue_limit,
            absl::FromUnixSeconds(1000) + absl::Milliseconds(9));
  EXPECT_EQ(decoded.task.timeout_us, 9000);
}

TEST(DecodeTest, AnSloShortensTheDeadline) {
  ModelConfig config;
  config.batch.slo = absl::Milliseconds(20);
  const Decoded d(SimpleRequest(),
                  MakeModel("simple", SimpleSignature(), config));
  EXPECT_EQ(d.task.deadline,
            absl::FromUnixSeconds(1000) + absl::Milliseconds(20));
}

}  // namespace
}  // namespace reprise::testing
