// One decoder for each file format; DecodeImage chooses.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/image.h"

namespace reprise::client {

// INVALID_ARGUMENT with the decoder's reason.
absl::StatusOr<Image> DecodePng(absl::string_view bytes);
absl::StatusOr<Image> DecodeJpeg(absl::string_view bytes);
absl::StatusOr<Image> DecodePnm(absl::string_view bytes);

// INVALID_ARGUMENT unless both are above zero and the area below 2^28.
absl::Status CheckImageSize(uint64_t width, uint64_t height);

}  // namespace reprise::client
