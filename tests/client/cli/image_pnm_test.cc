#include "client/cli/image_codec.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ImagePnmTest, ReadsPlainAndBinary) {
  const auto plain = DecodePnm("P2\n# a comment\n2 1 # wide\n10\n0 5\n");
  ASSERT_THAT(plain, IsOk());
  EXPECT_EQ(plain->width, 2);
  EXPECT_EQ(plain->height, 1);
  EXPECT_THAT(plain->pixels, ElementsAre(0, 128));
  EXPECT_THAT(DecodePnm("P5 2 1 255 #A")->pixels, ElementsAre('#', 'A'));
  const auto colour = DecodePnm("P6 1 1 255\nabc");
  EXPECT_EQ(colour->channels, 3);
  EXPECT_THAT(colour->pixels, ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(DecodePnm("P3 1 1 255 1 2 3")->pixels, ElementsAre(1, 2, 3));
}

TEST(ImagePnmTest, ScalesSixteenBits) {
  EXPECT_THAT(
      DecodePnm(std::string("P5 2 1 65535\n\xFF\xFF\x80\x00", 17))->pixels,
      ElementsAre(255, 128));
}

TEST(ImagePnmTest, RefusesWhatIsDamaged) {
  for (const char* text :
       {"P", "P1 1 1 1", "P5", "P5 2", "P5 2 2 255 abc", "P5 0 2 255 ",
        "P5 99999 99999 255 a", "P5 1 1 0 a", "P5 1 1 65536 ab", "P2 1 1 9 x",
        "P2 1 1 9 10", "P6 1 1 255 ab", "P5 1 1 255"}) {
    EXPECT_THAT(DecodePnm(text), StatusIs(kInvalid)) << text;
  }
  EXPECT_THAT(DecodePnm("P5 2 2 255 abc"),
              StatusIs(kInvalid, HasSubstr("ends")));
}

}  // namespace
}  // namespace reprise::client
