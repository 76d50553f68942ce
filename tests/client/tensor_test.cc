#include "client/tensor.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::IsOkAndHolds;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TensorTest, KnowsTheSizesOfTheDatatypes) {
  EXPECT_THAT(ElementSize("BOOL"), IsOkAndHolds(1));
  EXPECT_THAT(ElementSize("FP16"), IsOkAndHolds(2));
  EXPECT_THAT(ElementSize("UINT64"), IsOkAndHolds(8));
  EXPECT_THAT(ElementSize("BYTES"), IsOkAndHolds(0));
  EXPECT_THAT(ElementSize("FP8"), StatusIs(kInvalid, HasSubstr("FP8")));
}

TEST(TensorTest, CountsElementsWithoutOverflow) {
  EXPECT_THAT(ElementCount({}), IsOkAndHolds(1));
  EXPECT_THAT(ElementCount({2, 0, 3}), IsOkAndHolds(0));
  EXPECT_THAT(ElementCount({2, -1}), StatusIs(kInvalid, HasSubstr("[2, -1]")));
  EXPECT_THAT(ElementCount({int64_t{1} << 40, int64_t{1} << 40}),
              StatusIs(kInvalid));
}

TEST(TensorTest, ChecksBytesAgainstDatatypeAndShape) {
  EXPECT_THAT(CheckTensor({"x", "FP32", {2, 3}, std::string(24, 'a')}), IsOk());
  EXPECT_THAT(CheckTensor({"x", "FP32", {0}, ""}), IsOk());
  EXPECT_THAT(CheckTensor({"x", "FP32", {2, 3}, std::string(23, 'a')}),
              StatusIs(kInvalid,
                       "tensor \"x\": 23 bytes, but FP32 [2, 3] "
                       "takes 6 x 4"));
  EXPECT_THAT(CheckTensor({"x", "FP99", {1}, "a"}),
              StatusIs(kInvalid, HasSubstr("tensor \"x\"")));
  EXPECT_THAT(CheckTensor({"x", "FP64", {int64_t{1} << 61}, ""}),
              StatusIs(kInvalid));
}

TEST(TensorTest, ChecksTheNumberOfStrings) {
  const std::string bytes = EncodeStrings({"a", "", "long"});
  EXPECT_THAT(CheckTensor({"s", "BYTES", {3}, bytes}), IsOk());
  EXPECT_THAT(CheckTensor({"s", "BYTES", {2}, bytes}),
              StatusIs(kInvalid, HasSubstr("3 strings")));
}

TEST(TensorTest, DecodesStringsAndRefusesTornOnes) {
  const std::string bytes = EncodeStrings({"ab", ""});
  EXPECT_EQ(bytes, std::string("\2\0\0\0ab\0\0\0\0", 10));
  const auto strings = DecodeStrings(bytes);
  ASSERT_THAT(strings, IsOk());
  EXPECT_THAT(*strings, ElementsAre("ab", ""));
  EXPECT_THAT(DecodeStrings(bytes.substr(0, 8)),
              StatusIs(kInvalid, HasSubstr("incomplete length")));
  EXPECT_THAT(DecodeStrings(bytes.substr(0, 5)),
              StatusIs(kInvalid, "string of 2 bytes, but 1 are left"));
}

}  // namespace
}  // namespace reprise::client
