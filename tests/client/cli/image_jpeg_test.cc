#include <cstddef>
#include <cstdio>
#include <cstdlib>

// clang-format off
#include <jpeglib.h>  // takes size_t and FILE from above
// clang-format on

#include <string>
#include <vector>

#include "client/cli/image_codec.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::StatusIs;
using ::testing::HasSubstr;

std::string Jpeg(int channels, unsigned width, unsigned height,
                 std::vector<uint8_t> pixels) {
  jpeg_compress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&jpeg, &buffer, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = channels;
  jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < height) {
    JSAMPROW row = pixels.data() + size_t{jpeg.next_scanline} * width *
                                       static_cast<size_t>(channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string bytes(reinterpret_cast<char*>(buffer), size);
  std::free(buffer);
  return bytes;
}

TEST(ImageJpegTest, ReadsGrayAndColour) {
  const auto gray = DecodeJpeg(Jpeg(1, 8, 4, std::vector<uint8_t>(32, 90)));
  ASSERT_THAT(gray, IsOk());
  EXPECT_EQ(gray->width, 8);
  EXPECT_EQ(gray->height, 4);
  EXPECT_EQ(gray->channels, 1);
  ASSERT_EQ(gray->pixels.size(), 32U);
  EXPECT_NEAR(gray->pixels[17], 90, 2);

  std::vector<uint8_t> red;
  for (int i = 0; i < 64; ++i) red.insert(red.end(), {250, 10, 20});
  const auto rgb = DecodeJpeg(Jpeg(3, 8, 8, red));
  ASSERT_THAT(rgb, IsOk());
  EXPECT_EQ(rgb->channels, 3);
  ASSERT_EQ(rgb->pixels.size(), 192U);
  EXPECT_NEAR(rgb->pixels[90], 250, 6);
  EXPECT_NEAR(rgb->pixels[91], 10, 6);
}

TEST(ImageJpegTest, RefusesWhatIsNone) {
  EXPECT_THAT(
      DecodeJpeg("\xFF\xD8 no picture"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("JPEG: ")));
  EXPECT_THAT(DecodeJpeg(""), StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string good = Jpeg(1, 8, 8, std::vector<uint8_t>(64, 90));
  EXPECT_THAT(DecodeJpeg(good.substr(0, 30)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace reprise::client
