#include "server/grpc/encode.h"

#include "runtime/base/status_macros.h"
#include "server/grpc/bytes_tensor.h"
#include "tests/server/fake_model_manager.h"
#include "tests/server/grpc/request_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using inference::ModelInferResponse;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> AsBytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

ModelInferResponse Parse(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  ModelInferResponse response;
  EXPECT_TRUE(response.ParseFromString(bytes));
  return response;
}

constexpr size_t kNoLimit = 1 << 30;

absl::StatusOr<grpc::ByteBuffer> Encode(const ReplyHeader& header,
                                        const BatchOutput& output) {
  grpc::ByteBuffer reply;
  REPRISE_RETURN_IF_ERROR(EncodeReply(header, output, reply));
  return reply;
}

TEST(EncodeTest, TheReplyIsWhatProtobufReads) {
  const Signature signature = SimpleSignature();
  const ModelHandle model = MakeModel("simple", signature, {}, 12);
  const DecodedRequest::Output wanted[] = {{0, 0}, {1, 0}};
  for (const int rows : {1, 3, 8}) {
    for (const bool may_hold_slot : {true, false}) {
      const size_t bytes = static_cast<size_t>(rows) * 64;
      const std::string a(bytes, 'a');
      const std::string b(bytes, 'b');
      const BatchOutput output =
          MakeOutput(signature, {AsBytes(a), AsBytes(b)}, rows, may_hold_slot);
      const auto reply = Encode({*model, "req", wanted, kNoLimit}, output);
      ASSERT_THAT(reply, IsOk());
      const ModelInferResponse response = Parse(*reply);
      EXPECT_EQ(response.model_name(), "simple");
      EXPECT_EQ(response.model_version(), "12");
      EXPECT_EQ(response.id(), "req");
      ASSERT_EQ(response.outputs_size(), 2);
      EXPECT_EQ(response.outputs(0).name(), "OUTPUT0");
      EXPECT_EQ(response.outputs(0).datatype(), "INT32");
      EXPECT_THAT(response.outputs(0).shape(), ElementsAre(rows, 16));
      EXPECT_THAT(response.raw_output_contents(), ElementsAre(a, b));
    }
  }
}

TEST(EncodeTest, OnlyWhatWasAskedForIsSent) {
  const Signature signature = SimpleSignature();
  const ModelHandle model = MakeModel("simple", signature);
  const DecodedRequest::Output wanted[] = {{1, 0}};
  const BatchOutput output = MakeOutput(
      signature, {AsBytes(std::string(64, 'a')), AsBytes(std::string(64, 'b'))},
      1);
  const auto reply = Encode({*model, "", wanted, kNoLimit}, output);
  ASSERT_THAT(reply, IsOk());
  const ModelInferResponse response = Parse(*reply);
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_EQ(response.outputs(0).name(), "OUTPUT1");
  EXPECT_THAT(response.raw_output_contents(),
              ElementsAre(std::string(64, 'b')));
}

TEST(EncodeTest, LargeOutputsKeepTheSlotUntilTheyAreSent) {
  const Signature signature = IdentitySignature(DType::kUint8, {4096});
  const ModelHandle model = MakeModel("id", signature);
  const DecodedRequest::Output wanted[] = {{0, 0}};
  BatchOutput output =
      MakeOutput(signature, {AsBytes(std::string(4096, 'z'))}, 1);
  const std::byte* const slot = output.bytes(0).data();
  auto reply = Encode({*model, "", wanted, kNoLimit}, output);
  ASSERT_THAT(reply, IsOk());
  output.Reset();
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(reply->Dump(&slices).ok());
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(static_cast<const void*>(slices[1].begin()), slot);
  EXPECT_EQ(Parse(*reply).raw_output_contents(0), std::string(4096, 'z'));
}

TEST(EncodeTest, ScarceSlotsAreCopiedAndLetGo) {
  const Signature signature = IdentitySignature(DType::kUint8, {4096});
  const ModelHandle model = MakeModel("id", signature);
  const DecodedRequest::Output wanted[] = {{0, 0}};
  BatchOutput output =
      MakeOutput(signature, {AsBytes(std::string(4096, 'z'))}, 1, false);
  const std::byte* const slot = output.bytes(0).data();
  auto reply = Encode({*model, "", wanted, kNoLimit}, output);
  ASSERT_THAT(reply, IsOk());
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(reply->Dump(&slices).ok());
  for (const grpc::Slice& slice : slices) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(slice.begin());
    EXPECT_FALSE(bytes <= slot && slot < bytes + slice.size());
  }
  EXPECT_EQ(Parse(*reply).raw_output_contents(0), std::string(4096, 'z'));
}

// Two outputs of so many bytes, around the size from which they are referred.
struct Sizes {
  int64_t first;
  int64_t second;
};

class EncodeSizesTest
    : public ::testing::TestWithParam<std::tuple<Sizes, bool>> {};

TEST_P(EncodeSizesTest, EveryMixOfCopiesAndReferencesIsWhatProtobufReads) {
  const auto& [sizes, may_hold_slot] = GetParam();
  Signature signature = IdentitySignature(DType::kUint8, {sizes.first});
  signature.outputs[0].name = "a";
  signature.outputs.push_back(signature.outputs[0]);
  signature.outputs[1].name = "b";
  signature.outputs[1].dims = {sizes.second};
  const ModelHandle model = MakeModel("m", signature);
  const std::string a(static_cast<size_t>(sizes.first), 'x');
  const std::string b(static_cast<size_t>(sizes.second), 'y');
  const DecodedRequest::Output wanted[] = {{0, 0}, {1, 0}};
  const auto reply =
      Encode({*model, "", wanted, kNoLimit},
             MakeOutput(signature, {AsBytes(a), AsBytes(b)}, 1, may_hold_slot));
  ASSERT_THAT(reply, IsOk());
  const ModelInferResponse response = Parse(*reply);
  EXPECT_EQ(response.outputs(1).name(), "b");
  EXPECT_THAT(response.raw_output_contents(), ElementsAre(a, b));
}

INSTANTIATE_TEST_SUITE_P(
    All, EncodeSizesTest,
    ::testing::Combine(::testing::Values(Sizes{0, 0}, Sizes{1, 1024},
                                         Sizes{1024, 1025}, Sizes{1025, 1},
                                         Sizes{1025, 5000}, Sizes{5000, 0}),
                       ::testing::Bool()));

// Short enough for gRPC to keep the bytes inside its slice.
TEST(EncodeTest, ATinyReplyIsWhatProtobufReads) {
  const Signature signature = IdentitySignature(DType::kUint8, {1});
  const ModelHandle model = MakeModel("m", signature);
  const auto reply = Encode({*model, "", {}, kNoLimit},
                            MakeOutput(signature, {AsBytes("z")}, 1));
  ASSERT_THAT(reply, IsOk());
  ASSERT_LT(reply->Length(), 24u);
  EXPECT_EQ(Parse(*reply).model_name(), "m");
}

TEST(EncodeTest, StringsAreWrittenWithTheirLengths) {
  for (const size_t length : {size_t{3}, size_t{5000}}) {
    const std::string text(length, 's');
    const StringRef elements[] = {{text.data(), text.size()}, {"", 0}};
    const Signature signature = IdentitySignature(DType::kString, {2});
    const auto bytes = std::as_bytes(std::span(elements));
    const BatchOutput output =
        MakeOutput(signature, {{bytes.begin(), bytes.end()}}, 1);
    const ModelHandle model = MakeModel("id", signature);
    const DecodedRequest::Output wanted[] = {{0, 0}};
    const auto reply = Encode({*model, "", wanted, kNoLimit}, output);
    ASSERT_THAT(reply, IsOk());
    EXPECT_EQ(Parse(*reply).raw_output_contents(0), RawStrings({text, ""}));
  }
}

TEST(EncodeTest, AnEmptyTensorHasAnEmptyEntry) {
  const Signature signature = IdentitySignature(DType::kInt32, {0});
  const ModelHandle model = MakeModel("id", signature);
  const DecodedRequest::Output wanted[] = {{0, 0}};
  const auto reply =
      Encode({*model, "", wanted, kNoLimit}, MakeOutput(signature, {{}}, 1));
  ASSERT_THAT(reply, IsOk());
  const ModelInferResponse response = Parse(*reply);
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(1, 0));
  EXPECT_THAT(response.raw_output_contents(), ElementsAre(""));
}

TEST(EncodeTest, ClassesReplaceTheTensor) {
  const Signature signature = IdentitySignature(DType::kFp32, {3});
  ModelConfig config;
  config.labels["OUTPUT0"] = {"zero", "one", "two"};
  const ModelHandle model = MakeModel("id", signature, config);
  const DecodedRequest::Output wanted[] = {{0, 2}};
  const auto reply =
      Encode({*model, "", wanted, kNoLimit},
             MakeOutput(signature, {AsBytes(Raw<float>({1, 3, 2}))}, 1));
  ASSERT_THAT(reply, IsOk());
  const ModelInferResponse response = Parse(*reply);
  EXPECT_EQ(response.outputs(0).datatype(), "BYTES");
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(1, 2));
  EXPECT_EQ(response.raw_output_contents(0),
            RawStrings({"3.000000:1:one", "2.000000:2:two"}));
}

TEST(EncodeTest, AReplyAboveTheLimitIsRefused) {
  const Signature signature = IdentitySignature(DType::kUint8, {4096});
  const ModelHandle model = MakeModel("id", signature);
  const DecodedRequest::Output wanted[] = {{0, 0}};
  const BatchOutput output =
      MakeOutput(signature, {AsBytes(std::string(4096, 'z'))}, 1);
  EXPECT_THAT(Encode({*model, "", wanted, 4096}, output),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("exceeds the size limit of 4096")));
}

}  // namespace
}  // namespace reprise::testing
