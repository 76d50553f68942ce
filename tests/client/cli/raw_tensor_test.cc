#include "client/cli/raw_tensor.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor RawTarget(const char* datatype, std::vector<int64_t> shape) {
  return {"x", datatype, std::move(shape), ""};
}

TEST(RawTensorTest, TheFreeDimFollowsFromTheSize) {
  const auto rows = RawTensor("f", "aabbccdd", RawTarget("INT16", {-1, 2}));
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->name, "x");
  EXPECT_THAT(rows->shape, ElementsAre(2, 2));
  EXPECT_EQ(rows->bytes, "aabbccdd");
  EXPECT_THAT(RawTensor("f", "aabbccdd", RawTarget("INT16", {2, -1}))->shape,
              ElementsAre(2, 2));
  EXPECT_THAT(RawTensor("f", "aabbccdd", RawTarget("INT16", {4}))->shape,
              ElementsAre(4));
}

TEST(RawTensorTest, AWrongSizeNamesWhatIsTaken) {
  EXPECT_THAT(
      RawTensor("f.bin", "aabbc", RawTarget("INT16", {-1, 2})),
      StatusIs(kInvalid,
               "f.bin: 5 bytes, but a row of input \"x\" (INT16 [-1, 2]) takes "
               "4"));
  EXPECT_THAT(
      RawTensor("f.bin", "aabbc", RawTarget("INT16", {2, -1})),
      StatusIs(kInvalid, HasSubstr("input \"x\" (INT16 [2, -1]) takes a "
                                   "multiple of 4")));
  EXPECT_THAT(RawTensor("f.bin", "aabbccdd", RawTarget("INT16", {1, 2})),
              StatusIs(kInvalid,
                       "f.bin: 8 bytes, but input \"x\" (INT16 [1, 2]) takes "
                       "4"));
  EXPECT_THAT(RawTensor("f.bin", "", RawTarget("INT16", {-1, 2})),
              StatusIs(kInvalid, HasSubstr("0 bytes, but a row")));
  EXPECT_THAT(RawTensor("f.bin", "", RawTarget("INT16", {-1, 0})),
              StatusIs(kInvalid));
  EXPECT_THAT(RawTensor("f.bin", "a", RawTarget("INT64", {-1, INT64_MAX / 4})),
              StatusIs(kInvalid, HasSubstr("no file fills")));
  EXPECT_THAT(RawTensor("f.bin", "a", RawTarget("FP8", {-1})),
              StatusIs(kInvalid));
}

TEST(RawTensorTest, StringsStandBehindTheirLengths) {
  const std::string four = EncodeStrings({"a", "", "b\nc", "d"});
  const auto rows = RawTensor("s.bin", four, RawTarget("BYTES", {-1, 2}));
  ASSERT_THAT(rows, IsOk());
  EXPECT_THAT(rows->shape, ElementsAre(2, 2));
  EXPECT_EQ(rows->bytes, four);
  EXPECT_THAT(RawTensor("s.bin", EncodeStrings({"a", "b", "c"}),
                        RawTarget("BYTES", {-1, 2})),
              StatusIs(kInvalid,
                       "s.bin: 3 strings, but a row of input \"x\" "
                       "(BYTES [-1, 2]) takes 2"));
  EXPECT_THAT(
      RawTensor("s.bin", "hello", RawTarget("BYTES", {-1})),
      StatusIs(kInvalid, HasSubstr("s.bin: each string stands behind its "
                                   "length in 4 bytes")));
}

TEST(RawTensorTest, ATextFileHoldsAStringALine) {
  const auto rows =
      RawTensor("s.txt", "one\n\nthree\nfour", RawTarget("BYTES", {-1, 2}));
  ASSERT_THAT(rows, IsOk());
  EXPECT_THAT(rows->shape, ElementsAre(2, 2));
  EXPECT_THAT(*DecodeStrings(rows->bytes),
              ElementsAre("one", "", "three", "four"));
  EXPECT_THAT(RawTensor("s.txt", "one\n", RawTarget("BYTES", {-1, 1}))->shape,
              ElementsAre(1, 1));
  EXPECT_THAT(RawTensor("s.txt", "", RawTarget("BYTES", {-1, 1})),
              StatusIs(kInvalid, HasSubstr("0 strings")));
  EXPECT_EQ(RawTensor("n.txt", "ab\n.", RawTarget("INT16", {-1}))->bytes,
            "ab\n.");
}

}  // namespace
}  // namespace reprise::client
