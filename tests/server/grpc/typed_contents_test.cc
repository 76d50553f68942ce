#include "server/grpc/typed_contents.h"

#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/server/grpc/request_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using inference::InferTensorContents;
using ::testing::HasSubstr;
using Fill = std::function<void(InferTensorContents&)>;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<std::string> Read(DType dtype, int64_t count, const Fill& fill,
                                 uint32_t seed = 0) {
  ModelInferRequest message;
  fill(*AddInput(message, "x", "any", {count}).mutable_contents());
  std::mt19937 random(seed);
  const Pieces pieces = seed == 0 ? Pieces(message.SerializeAsString())
                                  : Pieces(message.SerializeAsString(), random);
  InferRequest request;
  absl::Status status = ParseInferRequest(pieces.spans(), request);
  if (!status.ok()) return status;
  std::forward_list<std::string> scratch;
  TypedElements elements;
  status = ReadTypedContents({request, request.inputs[0], dtype, count},
                             scratch, elements);
  if (!status.ok()) return status;
  std::string out(reinterpret_cast<const char*>(elements.bytes.data()),
                  elements.bytes.size());
  for (const StringRef& s : elements.strings) {
    absl::StrAppend(&out, "[", absl::string_view(s.data, s.size), "]");
  }
  return out;
}

TEST(TypedContentsTest, EachDatatypeHasItsField) {
  for (const uint32_t seed : {0u, 1u, 2u, 3u}) {
    EXPECT_THAT(Read(
                    DType::kBool, 2,
                    [](auto& c) {
                      c.add_bool_contents(true);
                      c.add_bool_contents(false);
                    },
                    seed),
                IsOkAndHolds(std::string("\x01\x00", 2)));
    EXPECT_THAT(Read(
                    DType::kInt8, 2,
                    [](auto& c) {
                      c.add_int_contents(-1);
                      c.add_int_contents(300);
                    },
                    seed),
                IsOkAndHolds(std::string("\xff\x2c")));
    EXPECT_THAT(Read(
                    DType::kInt32, 1,
                    [](auto& c) { c.add_int_contents(-70000); }, seed),
                IsOkAndHolds(Raw<int32_t>({-70000})));
    EXPECT_THAT(
        Read(
            DType::kInt64, 1, [](auto& c) { c.add_int64_contents(-5); }, seed),
        IsOkAndHolds(Raw<int64_t>({-5})));
    EXPECT_THAT(Read(
                    DType::kUint16, 1,
                    [](auto& c) { c.add_uint_contents(65535); }, seed),
                IsOkAndHolds(Raw<uint16_t>({65535})));
    EXPECT_THAT(Read(
                    DType::kUint64, 1,
                    [](auto& c) { c.add_uint64_contents(UINT64_MAX); }, seed),
                IsOkAndHolds(Raw<uint64_t>({UINT64_MAX})));
    EXPECT_THAT(Read(
                    DType::kFp32, 2,
                    [](auto& c) {
                      c.add_fp32_contents(1.5f);
                      c.add_fp32_contents(-2);
                    },
                    seed),
                IsOkAndHolds(Raw<float>({1.5f, -2})));
    EXPECT_THAT(
        Read(
            DType::kFp64, 1, [](auto& c) { c.add_fp64_contents(0.1); }, seed),
        IsOkAndHolds(Raw<double>({0.1})));
    EXPECT_THAT(Read(
                    DType::kString, 2,
                    [](auto& c) {
                      c.add_bytes_contents("");
                      c.add_bytes_contents("abc");
                    },
                    seed),
                IsOkAndHolds("[][abc]"));
  }
}

TEST(TypedContentsTest, AnotherFieldIsRefusedByName) {
  EXPECT_THAT(
      Read(DType::kInt32, 1, [](auto& c) { c.add_fp32_contents(1); }),
      StatusIs(kInvalid, HasSubstr("unexpected explicit tensor data in "
                                   "fp32_contents for datatype INT32, expected "
                                   "int_contents")));
  EXPECT_THAT(Read(DType::kInt32, 1,
                   [](auto& c) {
                     c.add_int_contents(1);
                     c.add_bytes_contents("x");
                   }),
              StatusIs(kInvalid, HasSubstr("bytes_contents")));
  EXPECT_THAT(Read(DType::kFp16, 1, [](auto& c) { c.add_fp32_contents(1); }),
              StatusIs(kInvalid, HasSubstr("expected raw_input_contents")));
}

TEST(TypedContentsTest, TheCountMustBeTheShapes) {
  const Fill two = [](auto& c) {
    c.add_int_contents(1);
    c.add_int_contents(2);
  };
  EXPECT_THAT(Read(DType::kInt32, 3, two),
              StatusIs(kInvalid, HasSubstr("expected 3 elements in "
                                           "int_contents, got 2")));
  EXPECT_THAT(Read(DType::kInt32, 1, two),
              StatusIs(kInvalid, HasSubstr("got more")));
  EXPECT_THAT(Read(DType::kInt32, 1, [](auto&) {}),
              StatusIs(kInvalid, HasSubstr("no data found")));
  EXPECT_THAT(Read(DType::kInt32, 0, [](auto&) {}), IsOkAndHolds(""));
  EXPECT_THAT(Read(DType::kInt32, int64_t{1} << 61, two), StatusIs(kInvalid));
}

}  // namespace
}  // namespace reprise::testing
