// Picture files as pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reprise::client {

// Rows from the top, channels of a pixel side by side, 0 to 255.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 1;  // 1: gray; 3: red, green, blue
  std::vector<uint8_t> pixels;
};

// Whether the file's name says PNG, JPEG, PGM or PPM.
bool IsImageName(absl::string_view path);

// Decodes PNG, JPEG, and binary or plain PGM and PPM, told apart by their first
// bytes. Transparency is dropped; more than 8 bits are scaled down to 8.
// INVALID_ARGUMENT with the decoder's reason, also for pictures of more than
// 2^28 pixels.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes);

// By the luma of ITU-R 601: (299 R + 587 G + 114 B) / 1000.
Image ToGray(const Image& image);
Image ToRgb(const Image& image);

// Bilinear between pixel centres; edges are repeated.
Image Resize(const Image& image, int width, int height);

}  // namespace reprise::client
