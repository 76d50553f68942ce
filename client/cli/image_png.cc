#include <png.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/image_codec.h"
#include "client/status.h"

namespace reprise::client {
namespace {

// libpng's state, freed when done.
class PngReader {
 public:
  PngReader() { image_.version = PNG_IMAGE_VERSION; }
  ~PngReader() { png_image_free(&image_); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  png_image* get() { return &image_; }
  absl::Status Error() const {
    return absl::InvalidArgumentError(absl::StrCat("PNG: ", image_.message));
  }

 private:
  png_image image_ = {};
};

}  // namespace

absl::StatusOr<Image> DecodePng(absl::string_view bytes) {
  PngReader reader;
  png_image* png = reader.get();
  if (png_image_begin_read_from_memory(png, bytes.data(), bytes.size()) == 0) {
    return reader.Error();
  }
  CLIENT_RETURN_IF_ERROR(CheckImageSize(png->width, png->height));
  const bool gray = (png->format & PNG_FORMAT_FLAG_COLOR) == 0;
  // Alpha is asked for, and dropped below: libpng would blend it otherwise.
  png->format = gray ? PNG_FORMAT_GA : PNG_FORMAT_RGBA;
  std::vector<uint8_t> buffer(PNG_IMAGE_SIZE(*png));
  if (png_image_finish_read(png, nullptr, buffer.data(), 0, nullptr) == 0) {
    return reader.Error();
  }
  Image image{static_cast<int>(png->width),
              static_cast<int>(png->height),
              gray ? 1 : 3,
              {}};
  const size_t channels = static_cast<size_t>(image.channels);
  for (size_t i = 0; i < buffer.size(); i += channels + 1) {
    image.pixels.insert(image.pixels.end(), &buffer[i], &buffer[i] + channels);
  }
  return image;
}

}  // namespace reprise::client
