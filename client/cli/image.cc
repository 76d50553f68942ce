#include "client/cli/image.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/image_codec.h"

namespace reprise::client {
namespace {

constexpr uint64_t kMaxPixels = uint64_t{1} << 28;

// Where a target pixel's centre falls between two source pixels.
struct Tap {
  size_t low;
  size_t high;
  double weight;  // of `high`
};

Tap TapFor(int target, int target_size, int source_size) {
  const double scale = static_cast<double>(source_size) / target_size;
  const double centre = std::clamp((target + 0.5) * scale - 0.5, 0.0,
                                   static_cast<double>(source_size - 1));
  const size_t low = static_cast<size_t>(centre);
  const size_t high = std::min(low + 1, static_cast<size_t>(source_size - 1));
  return {low, high, centre - static_cast<double>(low)};
}

}  // namespace

bool IsImageName(absl::string_view path) {
  for (const char* ending : {".png", ".jpg", ".jpeg", ".pgm", ".ppm"}) {
    if (absl::EndsWithIgnoreCase(path, ending)) return true;
  }
  return false;
}

absl::Status CheckImageSize(uint64_t width, uint64_t height) {
  if (width == 0 || height == 0 || width > kMaxPixels || height > kMaxPixels ||
      width * height > kMaxPixels) {
    return absl::InvalidArgumentError(
        absl::StrCat("a picture of ", width, " x ", height, " pixels"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Image> DecodeImage(absl::string_view bytes) {
  if (absl::StartsWith(bytes, "\x89PNG")) return DecodePng(bytes);
  if (absl::StartsWith(bytes, "\xFF\xD8")) return DecodeJpeg(bytes);
  if (absl::StartsWith(bytes, "P")) return DecodePnm(bytes);
  return absl::InvalidArgumentError("neither PNG nor JPEG nor PGM");
}

Image ToGray(const Image& image) {
  if (image.channels == 1) return image;
  Image gray{image.width, image.height, 1, {}};
  gray.pixels.reserve(image.pixels.size() / 3);
  for (size_t i = 0; i + 2 < image.pixels.size(); i += 3) {
    const int luma = 299 * image.pixels[i] + 587 * image.pixels[i + 1] +
                     114 * image.pixels[i + 2];
    gray.pixels.push_back(static_cast<uint8_t>((luma + 500) / 1000));
  }
  return gray;
}

Image ToRgb(const Image& image) {
  if (image.channels == 3) return image;
  Image rgb{image.width, image.height, 3, {}};
  rgb.pixels.reserve(image.pixels.size() * 3);
  for (const uint8_t pixel : image.pixels) {
    rgb.pixels.insert(rgb.pixels.end(), 3, pixel);
  }
  return rgb;
}

Image Resize(const Image& image, int width, int height) {
  if (image.width == width && image.height == height) return image;
  Image out{width, height, image.channels, {}};
  const size_t channels = static_cast<size_t>(image.channels);
  const size_t row = static_cast<size_t>(image.width) * channels;
  out.pixels.reserve(static_cast<size_t>(width) * static_cast<size_t>(height) *
                     channels);
  for (int y = 0; y < height; ++y) {
    const Tap v = TapFor(y, height, image.height);
    for (int x = 0; x < width; ++x) {
      const Tap h = TapFor(x, width, image.width);
      for (size_t c = 0; c < channels; ++c) {
        const auto at = [&](size_t py, size_t px) {
          return static_cast<double>(
              image.pixels[py * row + px * channels + c]);
        };
        const double top =
            std::lerp(at(v.low, h.low), at(v.low, h.high), h.weight);
        const double bottom =
            std::lerp(at(v.high, h.low), at(v.high, h.high), h.weight);
        out.pixels.push_back(static_cast<uint8_t>(
            std::lround(std::lerp(top, bottom, v.weight))));
      }
    }
  }
  return out;
}

}  // namespace reprise::client
