#include "server/grpc/wire_reader.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/grpc/request_builder.h"

namespace reprise::testing {
namespace {

TEST(WireReaderTest, ReadsAVarintThatLiesInManyPieces) {
  const std::string bytes = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const Pieces pieces(bytes, random);
    WireReader reader(pieces.spans());
    uint64_t value = 0;
    ASSERT_TRUE(reader.ReadVarint(value));
    EXPECT_EQ(value, UINT64_MAX);
    EXPECT_TRUE(reader.done());
  }
}

TEST(WireReaderTest, RefusesAVarintWithoutEnd) {
  for (const std::string& bytes :
       {std::string(9, '\xff'), std::string(20, '\xff'), std::string()}) {
    const Pieces pieces(bytes);
    WireReader reader(pieces.spans());
    uint64_t value = 0;
    EXPECT_FALSE(reader.ReadVarint(value)) << bytes.size();
  }
}

TEST(WireReaderTest, RefusesALengthPastTheEndOrTheLimit) {
  const Pieces pieces(
      std::string("\x05"
                  "abcd"));
  WireReader reader(pieces.spans());
  size_t length = 0;
  EXPECT_FALSE(reader.ReadLength(length));

  const Pieces nested(
      std::string("\x03"
                  "abcd"));
  WireReader confined(nested.spans());
  size_t outer = 0;
  ASSERT_TRUE(confined.Enter(3, outer));
  EXPECT_FALSE(confined.ReadLength(length));
}

TEST(WireReaderTest, BorrowsTextOfOnePieceAndCopiesTextOfTwo) {
  const std::string whole(
      "\x04"
      "text");
  std::forward_list<std::string> scratch;
  absl::string_view text;
  const Pieces one(whole);
  WireReader reader(one.spans());
  ASSERT_TRUE(reader.ReadText(scratch, text));
  EXPECT_EQ(text, "text");
  EXPECT_TRUE(scratch.empty());

  const std::byte first[] = {std::byte{4}, std::byte{'t'}};
  const std::byte second[] = {std::byte{'e'}, std::byte{'x'}, std::byte{'t'}};
  const WireReader::Piece two[] = {first, second};
  WireReader cut(two);
  ASSERT_TRUE(cut.ReadText(scratch, text));
  EXPECT_EQ(text, "text");
  EXPECT_FALSE(scratch.empty());
}

TEST(WireReaderTest, GivesTensorsAsTheyLie) {
  const std::byte first[] = {std::byte{3}, std::byte{1}};
  const std::byte second[] = {std::byte{2}, std::byte{3}, std::byte{9}};
  const WireReader::Piece two[] = {first, {}, second};
  WireReader reader(two);
  InputRows rows;
  ASSERT_TRUE(reader.ReadPieces(rows));
  EXPECT_EQ(rows.bytes, 3);
  ASSERT_EQ(rows.pieces.size(), 2u);
  EXPECT_EQ(rows.pieces[0].data(), &first[1]);
  EXPECT_EQ(rows.pieces[1].data(), &second[0]);
  EXPECT_EQ(rows.pieces[1].size(), 2u);
  EXPECT_EQ(reader.position(), 4u);
}

TEST(WireReaderTest, RefusesGroupsAndFieldZero) {
  for (const char tag : {'\x0b', '\x0c', '\x02', '\x0e'}) {
    const Pieces pieces(std::string(1, tag));
    WireReader reader(pieces.spans());
    uint32_t field = 0;
    WireType type{};
    EXPECT_FALSE(reader.ReadTag(field, type) && reader.SkipValue(type))
        << static_cast<int>(tag);
  }
}

TEST(WireReaderTest, AtReadsARegionOnly) {
  const Pieces pieces(std::string("0123456789"));
  const WireReader whole(pieces.spans());
  WireReader region = whole.At(3, 4);
  char text[4];
  ASSERT_TRUE(region.ReadRaw(text, 4));
  EXPECT_EQ(std::string(text, 4), "3456");
  EXPECT_FALSE(region.ReadRaw(text, 1));
}

}  // namespace
}  // namespace reprise::testing
