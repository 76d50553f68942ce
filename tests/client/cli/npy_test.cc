#include "client/cli/npy.h"

#include "absl/strings/str_cat.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of `version` as numpy writes it.
std::string File(const std::string& header, const std::string& data,
                 char version = 1) {
  std::string out = absl::StrCat(std::string("\x93NUMPY"),
                                 std::string(1, version), std::string(1, '\0'));
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    out += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  }
  return out + header + data;
}

std::string Header(const std::string& descr, const std::string& shape,
                   const std::string& fortran = "False") {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran,
                      ", 'shape': ", shape, ", }\n");
}

TEST(NpyTest, ReadsVersionsOneAndTwo) {
  for (const char version : {'\1', '\2', '\3'}) {
    const auto tensor = ParseNpy(
        File(Header("<i2", "(2, 1)"), std::string("\1\0\2\0", 4), version));
    ASSERT_THAT(tensor, IsOk());
    EXPECT_EQ(tensor->datatype, "INT16");
    EXPECT_THAT(tensor->shape, ElementsAre(2, 1));
    EXPECT_EQ(tensor->bytes, std::string("\1\0\2\0", 4));
  }
}

TEST(NpyTest, ReadsScalarsVectorsAndEmptyArrays) {
  EXPECT_THAT(ParseNpy(File(Header("|u1", "()"), "a"))->shape, ElementsAre());
  EXPECT_THAT(ParseNpy(File(Header("|u1", "(3,)"), "abc"))->shape,
              ElementsAre(3));
  EXPECT_THAT(ParseNpy(File(Header("<f4", "(0, 4)"), ""))->shape,
              ElementsAre(0, 4));
}

TEST(NpyTest, EveryNumberTypeSurvives) {
  for (const char* datatype :
       {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32",
        "INT64", "FP16", "FP32", "FP64", "BF16"}) {
    const Tensor tensor{
        "", datatype, {2, 3}, std::string(6 * *ElementSize(datatype), 'x')};
    const auto file = FormatNpy(tensor);
    ASSERT_THAT(file, IsOk());
    const auto again = ParseNpy(*file);
    ASSERT_THAT(again, IsOk()) << datatype;
    EXPECT_EQ(again->datatype, datatype);
    EXPECT_EQ(again->shape, tensor.shape);
    EXPECT_EQ(again->bytes, tensor.bytes);
  }
}

TEST(NpyTest, WritesWhatNumpyWrites) {
  const auto file = FormatNpy({"", "FP32", {2}, std::string(8, 'x')});
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(file->size(), 128U + 8);
  EXPECT_EQ(file->substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_THAT(*file, HasSubstr("{'descr': '<f4', 'fortran_order': False, "
                               "'shape': (2,), }  "));
  EXPECT_EQ((*file)[127], '\n');
}

TEST(NpyTest, BytesAndUnicodeBecomeStrings) {
  const auto bytes =
      ParseNpy(File(Header("|S3", "(2,)"), std::string("ab\0xyz", 6)));
  ASSERT_THAT(bytes, IsOk());
  EXPECT_EQ(bytes->datatype, "BYTES");
  EXPECT_THAT(*DecodeStrings(bytes->bytes), ElementsAre("ab", "xyz"));

  // U+00E9, U+20AC and U+1F600 take two, three and four bytes of UTF-8.
  const auto unicode =
      ParseNpy(File(Header("<U3", "(1,)"),
                    std::string("\xE9\0\0\0\xAC\x20\0\0\0\xF6\x01\0", 12)));
  ASSERT_THAT(unicode, IsOk());
  EXPECT_THAT(*DecodeStrings(unicode->bytes),
              ElementsAre("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
}

TEST(NpyTest, WritesStringsUnlessTheyWouldLoseBytes) {
  const auto file = FormatNpy({"", "BYTES", {2}, EncodeStrings({"a", "long"})});
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(*file, HasSubstr("'|S4'"));
  EXPECT_THAT(*DecodeStrings(ParseNpy(*file)->bytes), ElementsAre("a", "long"));
  EXPECT_THAT(
      FormatNpy({"", "BYTES", {1}, EncodeStrings({std::string("a\0", 2)})}),
      StatusIs(kInvalid, HasSubstr("zero byte")));
}

TEST(NpyTest, SaysHowToSaveWhatItCannotRead) {
  EXPECT_THAT(ParseNpy(File(Header(">f4", "(1,)"), "abcd")),
              StatusIs(kInvalid, HasSubstr(".astype('<f4')")));
  EXPECT_THAT(ParseNpy(File(Header("<f4", "(2, 2)", "True"), "")),
              StatusIs(kInvalid, HasSubstr("np.ascontiguousarray")));
  EXPECT_THAT(ParseNpy(File(Header("|O", "(1,)"), "abcd")),
              StatusIs(kInvalid, HasSubstr("objects")));
  EXPECT_THAT(ParseNpy(File(Header("<c8", "(1,)"), "abcdefgh")),
              StatusIs(kInvalid, HasSubstr("\"<c8\"")));
  EXPECT_THAT(ParseNpy(File("{'descr': [('a', '<f4')], 'fortran_order': False, "
                            "'shape': (1,)}\n",
                            "abcd")),
              StatusIs(kInvalid, HasSubstr("structured")));
}

TEST(NpyTest, RefusesDamagedFiles) {
  const std::string good = File(Header("<f4", "(2,)"), "abcdefgh");
  ASSERT_THAT(ParseNpy(good), IsOk());
  // Whatever is cut off, it is an error and no crash.
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(ParseNpy(good.substr(0, size)), StatusIs(kInvalid)) << size;
  }
  EXPECT_THAT(
      ParseNpy(good + "x"),
      StatusIs(kInvalid,
               "it holds 9 bytes of data, but its shape [2] takes 4 for "
               "each element"));
  for (const char* shape : {"(-1,)", "(x,)", "2", "(2",
                            "(9999999999, "
                            "9999999999, 9999999999)"}) {
    EXPECT_THAT(ParseNpy(File(Header("<f4", shape), "abcdefgh")),
                StatusIs(kInvalid))
        << shape;
  }
  for (const char* descr : {"", "<", "f4", "|S", "<S99999999999"}) {
    EXPECT_THAT(ParseNpy(File(Header(descr, "(2,)"), "abcdefgh")),
                StatusIs(kInvalid))
        << descr;
  }
  EXPECT_THAT(ParseNpy(File("{}", "")), StatusIs(kInvalid));
  EXPECT_THAT(ParseNpy(File(Header("<f4", "(2,)"), "abcdefgh", '\4')),
              StatusIs(kInvalid, HasSubstr("version 4")));
}

}  // namespace
}  // namespace reprise::client
