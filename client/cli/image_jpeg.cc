#include <csetjmp>
#include <cstddef>
#include <cstdio>

// clang-format off
#include <jpeglib.h>  // takes size_t and FILE from above
// clang-format on

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/image_codec.h"
#include "client/status.h"

namespace reprise::client {
namespace {

// libjpeg reports an error by a call that must not return: it jumps back into
// Guarded, which says so by returning false.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

void OnError(j_common_ptr jpeg) {
  auto* errors = reinterpret_cast<JpegErrors*>(jpeg->err);
  jpeg->err->format_message(jpeg, errors->message);
  std::longjmp(errors->back, 1);
}

void OnMessage(j_common_ptr /*jpeg*/) {}

// Runs `step(argument)`, which must hold nothing that has a destructor.
template <typename Argument>
bool Guarded(JpegErrors& errors, void (*step)(Argument&), Argument& argument) {
  if (setjmp(errors.back) != 0) return false;
  step(argument);
  return true;
}

struct Decoder {
  jpeg_decompress_struct jpeg = {};
  const unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  unsigned char* pixels = nullptr;
};

void ReadHeader(Decoder& decoder) {
  jpeg_create_decompress(&decoder.jpeg);
  jpeg_mem_src(&decoder.jpeg, decoder.bytes, decoder.size);
  jpeg_read_header(&decoder.jpeg, TRUE);
}

void ReadPixels(Decoder& decoder) {
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  const bool gray = jpeg.jpeg_color_space == JCS_GRAYSCALE;
  jpeg.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  const size_t row_bytes = size_t{jpeg.output_width} * (gray ? 1 : 3);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = decoder.pixels + jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
}

}  // namespace

absl::StatusOr<Image> DecodeJpeg(absl::string_view bytes) {
  JpegErrors errors = {};
  Decoder decoder;
  decoder.bytes = reinterpret_cast<const unsigned char*>(bytes.data());
  decoder.size = bytes.size();
  decoder.jpeg.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = OnError;
  errors.base.output_message = OnMessage;

  Image image;
  absl::Status size;
  bool ok = Guarded(errors, ReadHeader, decoder);
  if (ok) {
    size = CheckImageSize(decoder.jpeg.image_width, decoder.jpeg.image_height);
  }
  if (ok && size.ok()) {
    image.width = static_cast<int>(decoder.jpeg.image_width);
    image.height = static_cast<int>(decoder.jpeg.image_height);
    image.channels = decoder.jpeg.jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
    image.pixels.resize(size_t{decoder.jpeg.image_width} *
                        decoder.jpeg.image_height *
                        static_cast<size_t>(image.channels));
    decoder.pixels = image.pixels.data();
    ok = Guarded(errors, ReadPixels, decoder);
  }
  jpeg_destroy_decompress(&decoder.jpeg);
  if (!ok) {
    return absl::InvalidArgumentError(absl::StrCat("JPEG: ", errors.message));
  }
  if (!size.ok()) return size;
  return image;
}

}  // namespace reprise::client
