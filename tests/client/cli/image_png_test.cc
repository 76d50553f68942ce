#include <png.h>

#include <string>
#include <vector>

#include "client/cli/image_codec.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Png(uint32_t format, uint32_t width, uint32_t height,
                const std::vector<uint8_t>& pixels) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.format = format;
  image.width = width;
  image.height = height;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0,
                            nullptr);
  std::string bytes(size, '\0');
  png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0,
                            nullptr);
  bytes.resize(size);
  return bytes;
}

TEST(ImagePngTest, ReadsGrayAndColour) {
  const auto gray = DecodePng(Png(PNG_FORMAT_GRAY, 2, 1, {0, 200}));
  ASSERT_THAT(gray, IsOk());
  EXPECT_EQ(gray->width, 2);
  EXPECT_EQ(gray->height, 1);
  EXPECT_EQ(gray->channels, 1);
  EXPECT_THAT(gray->pixels, ElementsAre(0, 200));

  const auto rgb =
      DecodePng(Png(PNG_FORMAT_RGB, 1, 2, {10, 20, 30, 40, 50, 60}));
  ASSERT_THAT(rgb, IsOk());
  EXPECT_EQ(rgb->channels, 3);
  EXPECT_THAT(rgb->pixels, ElementsAre(10, 20, 30, 40, 50, 60));
}

TEST(ImagePngTest, DropsTransparency) {
  const auto rgba = DecodePng(Png(PNG_FORMAT_RGBA, 1, 1, {10, 20, 30, 0}));
  ASSERT_THAT(rgba, IsOk());
  EXPECT_EQ(rgba->channels, 3);
  EXPECT_EQ(rgba->pixels.size(), 3U);
}

TEST(ImagePngTest, RefusesWhatIsDamaged) {
  std::string bytes = Png(PNG_FORMAT_GRAY, 2, 1, {0, 200});
  EXPECT_THAT(DecodePng(bytes.substr(0, bytes.size() / 2)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("PNG: ")));
  EXPECT_THAT(DecodePng("\x89PNG"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace reprise::client
