#include "server/grpc/bytes_tensor.h"

#include <random>

#include "tests/server/grpc/request_builder.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

InputRows Rows(const Pieces& pieces) {
  InputRows rows;
  for (const auto& piece : pieces.spans()) {
    rows.pieces.push_back(piece);
    rows.bytes += static_cast<int64_t>(piece.size());
  }
  return rows;
}

absl::StatusOr<std::vector<std::string>> Split(const Pieces& pieces,
                                               int64_t count) {
  std::forward_list<std::string> scratch;
  std::vector<StringRef> elements;
  const absl::Status status =
      SplitBytes(Rows(pieces), count, scratch, elements);
  if (!status.ok()) return status;
  std::vector<std::string> out;
  for (const StringRef& e : elements) out.emplace_back(e.data, e.size);
  return out;
}

TEST(BytesTensorTest, SplitsElementsHoweverTheyAreCut) {
  const std::string raw = RawStrings({"", "ab", std::string(100, 'x'), "\xff"});
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) {
    const Pieces pieces(raw, random);
    EXPECT_THAT(
        Split(pieces, 4),
        IsOkAndHolds(ElementsAre("", "ab", std::string(100, 'x'), "\xff")));
  }
}

TEST(BytesTensorTest, RefusesWhatIsNotExactlyTheElements) {
  const std::string two = RawStrings({"abc", "de"});
  EXPECT_THAT(Split(Pieces(two), 3), StatusIs(kInvalid, HasSubstr("got 2")));
  EXPECT_THAT(Split(Pieces(two), 1), StatusIs(kInvalid, HasSubstr("got more")));
  EXPECT_THAT(Split(Pieces(two + "x"), 2),
              StatusIs(kInvalid, HasSubstr("got more")));
  EXPECT_THAT(Split(Pieces(two.substr(0, 9)), 2),
              StatusIs(kInvalid, HasSubstr("incomplete length indicator")));
  EXPECT_THAT(Split(Pieces(two.substr(0, 12)), 2),
              StatusIs(kInvalid, HasSubstr("should have 2 bytes")));
  EXPECT_THAT(Split(Pieces("\xff\xff\xff\xff"
                           "abc"),
                    1),
              StatusIs(kInvalid, HasSubstr("4294967295")));
  EXPECT_THAT(Split(Pieces(""), 1), StatusIs(kInvalid));
  EXPECT_THAT(Split(Pieces(""), int64_t{1} << 60), StatusIs(kInvalid));
  EXPECT_THAT(Split(Pieces(""), 0), IsOkAndHolds(ElementsAre()));
}

TEST(BytesTensorTest, WritesWhatItReads) {
  const std::vector<std::string> texts = {"a", "", "xyz"};
  std::vector<StringRef> elements;
  for (const std::string& t : texts) elements.push_back({t.data(), t.size()});
  std::string raw(RawBytesSize(elements), '?');
  WriteRawBytes(elements, raw.data());
  EXPECT_EQ(raw, RawStrings(texts));
}

}  // namespace
}  // namespace reprise::testing
