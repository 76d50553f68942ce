#include "client/cli/image.h"

#include "client/cli/image_codec.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(ImageTest, KnowsPicturesByName) {
  EXPECT_TRUE(IsImageName("a/b.PNG"));
  EXPECT_TRUE(IsImageName("b.jpeg"));
  EXPECT_TRUE(IsImageName("b.pgm"));
  EXPECT_FALSE(IsImageName("png"));
  EXPECT_FALSE(IsImageName("b.npy"));
}

TEST(ImageTest, TellsFormatsByTheirFirstBytes) {
  EXPECT_THAT(DecodeImage("P2 1 1 255 7"), IsOk());
  EXPECT_THAT(DecodeImage("GIF89a"),
              StatusIs(kInvalid, "neither PNG nor JPEG nor PGM"));
  EXPECT_THAT(DecodeImage(""), StatusIs(kInvalid));
}

TEST(ImageTest, BoundsTheSize) {
  EXPECT_THAT(CheckImageSize(1 << 14, 1 << 14), IsOk());
  EXPECT_THAT(CheckImageSize((1 << 14) + 1, 1 << 14), StatusIs(kInvalid));
  EXPECT_THAT(CheckImageSize(0, 5), StatusIs(kInvalid));
  EXPECT_THAT(CheckImageSize(uint64_t{1} << 63, 2), StatusIs(kInvalid));
}

TEST(ImageTest, GrayIsTheLuma) {
  const Image rgb{3, 1, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}};
  EXPECT_THAT(ToGray(rgb).pixels, ElementsAre(76, 150, 29));
  EXPECT_EQ(ToGray(rgb).channels, 1);
  EXPECT_THAT(ToRgb({2, 1, 1, {7, 9}}).pixels, ElementsAre(7, 7, 7, 9, 9, 9));
}

TEST(ImageTest, ResizeTakesBetweenPixelCentres) {
  const Image row{2, 1, 1, {0, 100}};
  EXPECT_THAT(Resize(row, 4, 1).pixels, ElementsAre(0, 25, 75, 100));
  EXPECT_THAT(Resize(row, 1, 1).pixels, ElementsAre(50));
  const Image square{2, 2, 1, {0, 100, 100, 200}};
  EXPECT_THAT(Resize(square, 1, 1).pixels, ElementsAre(100));
}

TEST(ImageTest, ResizeKeepsSizeColourAndFlatness) {
  const Image rgb{2, 1, 3, {0, 50, 100, 100, 150, 200}};
  EXPECT_EQ(Resize(rgb, 2, 1).pixels, rgb.pixels);
  EXPECT_THAT(Resize(rgb, 1, 1).pixels, ElementsAre(50, 100, 150));
  const Image flat{5, 7, 1, std::vector<uint8_t>(35, 42)};
  const Image larger = Resize(flat, 13, 3);
  EXPECT_EQ(larger.pixels.size(), 39U);
  EXPECT_THAT(larger.pixels, Each(42));
}

}  // namespace
}  // namespace reprise::client
