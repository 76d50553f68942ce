// Pictures as the input tensor that a model wants.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/flags.h"
#include "client/cli/image.h"
#include "client/tensor.h"

namespace reprise::client {

enum class Layout { kAuto, kNchw, kNhwc };

struct PixelOptions {
  std::optional<std::pair<int, int>> resize;  // width, height
  Layout layout = Layout::kAuto;
  bool gray = false;
  // Each value becomes (pixel * scale - mean) / std; one mean and std for all
  // channels, or one each.
  double scale = 1;
  std::vector<double> mean = {0};
  std::vector<double> std = {1};
};

// --resize, --layout, --gray, --scale, --mean, --std.
void AddPixelFlags(FlagTable& flags, PixelOptions& options);

// The pictures, one row each, in the form of the model's input `target`: its
// name, its datatype, and its dims (-1: free), with or without a batch axis in
// front. A picture of another size is resized to fixed dims, or to
// options.resize where they are free; colour follows the channel dim.
// INVALID_ARGUMENT, naming the input and its dims, if they cannot hold a
// picture, hold one and there are more, or are fixed to another size than
// options.resize.
absl::StatusOr<Tensor> PicturesToTensor(const std::vector<Image>& pictures,
                                        const Tensor& target,
                                        const PixelOptions& options);

}  // namespace reprise::client
