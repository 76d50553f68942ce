#include <cctype>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/image_codec.h"
#include "client/status.h"

namespace reprise::client {
namespace {

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("PGM: ", what));
}

// The next number of a header or of plain data; comments run from # to the end
// of their line.
absl::StatusOr<uint32_t> TakeNumber(absl::string_view& text) {
  while (!text.empty() &&
         (std::isspace(static_cast<unsigned char>(text[0])) != 0 ||
          text[0] == '#')) {
    if (text[0] == '#') {
      text.remove_prefix(std::min(text.size(), text.find('\n')));
    } else {
      text.remove_prefix(1);
    }
  }
  uint64_t number = 0;
  size_t digits = 0;
  while (digits < text.size() && digits < 9 && text[digits] >= '0' &&
         text[digits] <= '9') {
    number = number * 10 + static_cast<uint64_t>(text[digits] - '0');
    ++digits;
  }
  if (digits == 0) return Bad("a number is missing");
  text.remove_prefix(digits);
  return static_cast<uint32_t>(number);
}

absl::StatusOr<uint32_t> TakeSample(absl::string_view& data, bool plain,
                                    uint32_t max) {
  if (plain) return TakeNumber(data);
  const size_t size = max > 255 ? 2 : 1;
  if (data.size() < size) return Bad("it ends before its last pixel");
  uint32_t sample = 0;
  for (size_t i = 0; i < size; ++i) {
    sample = sample << 8 | static_cast<unsigned char>(data[i]);
  }
  data.remove_prefix(size);
  return sample;
}

}  // namespace

absl::StatusOr<Image> DecodePnm(absl::string_view bytes) {
  const char kind = bytes.size() > 1 ? bytes[1] : '0';
  if (kind != '2' && kind != '3' && kind != '5' && kind != '6') {
    return Bad("only P2, P3, P5 and P6 are read");
  }
  const bool plain = kind == '2' || kind == '3';
  const int channels = kind == '3' || kind == '6' ? 3 : 1;
  bytes.remove_prefix(2);
  CLIENT_ASSIGN_OR_RETURN(const uint32_t width, TakeNumber(bytes));
  CLIENT_ASSIGN_OR_RETURN(const uint32_t height, TakeNumber(bytes));
  CLIENT_ASSIGN_OR_RETURN(const uint32_t max, TakeNumber(bytes));
  CLIENT_RETURN_IF_ERROR(CheckImageSize(width, height));
  if (max == 0 || max > 65535) return Bad("its maximum is not 1 to 65535");
  if (!bytes.empty()) bytes.remove_prefix(1);  // the one space before the data

  Image image{static_cast<int>(width), static_cast<int>(height), channels, {}};
  const size_t samples = size_t{width} * height * static_cast<size_t>(channels);
  if (samples > bytes.size()) return Bad("it ends before its last pixel");
  image.pixels.reserve(samples);
  for (size_t i = 0; i < samples; ++i) {
    CLIENT_ASSIGN_OR_RETURN(const uint32_t sample,
                            TakeSample(bytes, plain, max));
    if (sample > max) return Bad("a pixel is above the maximum");
    image.pixels.push_back(
        static_cast<uint8_t>((sample * 255 + max / 2) / max));
  }
  return image;
}

}  // namespace reprise::client
