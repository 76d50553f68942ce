#include "client/cli/image_tensor.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/elements.h"
#include "client/status.h"

namespace reprise::client {
namespace {

// How one picture lies in the tensor. Dims of -1 are free.
struct Frame {
  bool batched = false;
  bool flat = false;          // one dim that holds all pixels
  bool has_channels = false;  // a dim of its own
  bool channels_first = true;
  int64_t channels = -1;
  int64_t height = -1;
  int64_t width = -1;
};

absl::Status Misfit(const Tensor& target, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("input \"", target.name, "\" ", ShapeText(target.shape),
                   " cannot take a picture: ", why));
}

bool IsChannelCount(int64_t dim) { return dim == 1 || dim == 3; }

bool ChannelsFirst(int64_t first, int64_t last, Layout layout) {
  if (layout != Layout::kAuto) return layout == Layout::kNchw;
  return IsChannelCount(first) || !IsChannelCount(last);
}

absl::StatusOr<Frame> FrameOf(const Tensor& target, Layout layout) {
  std::vector<int64_t> dims = target.shape;
  Frame frame;
  frame.batched = dims.size() == 4 || (!dims.empty() && dims[0] == -1);
  if (frame.batched) dims.erase(dims.begin());
  switch (dims.size()) {
    case 1:
      frame.flat = true;
      return frame;
    case 2:
      frame.height = dims[0];
      frame.width = dims[1];
      frame.channels = 1;
      return frame;
    case 3:
      frame.has_channels = true;
      frame.channels_first = ChannelsFirst(dims[0], dims[2], layout);
      frame.channels = frame.channels_first ? dims[0] : dims[2];
      frame.height = frame.channels_first ? dims[1] : dims[0];
      frame.width = frame.channels_first ? dims[2] : dims[1];
      break;
    default:
      return Misfit(target, "it wants 1 to 3 dims beside the batch");
  }
  if (frame.channels != -1 && !IsChannelCount(frame.channels)) {
    return Misfit(target, absl::StrCat(frame.channels,
                                       " channels are neither 1 nor 3 "
                                       "(--layout says where they are)"));
  }
  return frame;
}

// Whether pictures of this size can lie in the frame.
bool Allows(const Frame& frame, const std::pair<int, int>& size) {
  return (frame.width < 0 || frame.width == size.first) &&
         (frame.height < 0 || frame.height == size.second);
}

// `picture` in the size and colours of `frame`.
Image Fit(const Image& picture, const Frame& frame,
          const PixelOptions& options) {
  Image image = picture;
  const bool gray = options.gray && frame.channels != 3;
  if (frame.channels == 1 || gray) {
    image = ToGray(image);
  } else if (frame.channels == 3) {
    image = ToRgb(options.gray ? ToGray(image) : image);
  }
  int width = options.resize.has_value() ? options.resize->first : image.width;
  int height =
      options.resize.has_value() ? options.resize->second : image.height;
  if (frame.width > 0) width = static_cast<int>(frame.width);
  if (frame.height > 0) height = static_cast<int>(frame.height);
  return Resize(image, width, height);
}

double ForChannel(const std::vector<double>& values, size_t channel) {
  return values.size() == 1 ? values[0] : values[channel];
}

void AppendPixels(const Image& image, bool channels_first, const Tensor& target,
                  const PixelOptions& options, std::string& bytes) {
  const size_t channels = static_cast<size_t>(image.channels);
  const size_t area = image.pixels.size() / channels;
  const auto append = [&](size_t pixel, size_t c) {
    const double value = image.pixels[pixel * channels + c] * options.scale;
    AppendElement(
        target.datatype,
        (value - ForChannel(options.mean, c)) / ForChannel(options.std, c),
        bytes);
  };
  if (channels_first) {
    for (size_t c = 0; c < channels; ++c) {
      for (size_t pixel = 0; pixel < area; ++pixel) append(pixel, c);
    }
    return;
  }
  for (size_t pixel = 0; pixel < area; ++pixel) {
    for (size_t c = 0; c < channels; ++c) append(pixel, c);
  }
}

std::vector<int64_t> ShapeFor(const Image& image, const Frame& frame,
                              int64_t count) {
  std::vector<int64_t> shape;
  if (frame.batched) shape.push_back(count);
  if (frame.flat) {
    shape.push_back(static_cast<int64_t>(image.pixels.size()));
    return shape;
  }
  if (frame.has_channels && frame.channels_first) {
    shape.push_back(image.channels);
  }
  shape.push_back(image.height);
  shape.push_back(image.width);
  if (frame.has_channels && !frame.channels_first) {
    shape.push_back(image.channels);
  }
  return shape;
}

absl::Status CheckChannelValues(const PixelOptions& options, int channels) {
  for (const auto& [name, values] :
       {std::pair{"--mean", options.mean}, std::pair{"--std", options.std}}) {
    if (values.size() != 1 && values.size() != static_cast<size_t>(channels)) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " has ", values.size(), " values, but there ",
          channels == 1 ? "is 1 channel"
                        : absl::StrCat("are ", channels, " channels")));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<double> ParseFraction(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  double value = 0;
  double divisor = 1;
  const bool ok = parts.size() <= 2 && absl::SimpleAtod(parts[0], &value) &&
                  (parts.size() == 1 || absl::SimpleAtod(parts[1], &divisor)) &&
                  divisor != 0;
  if (ok) return value / divisor;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no number such as 0.5 or 1/255"));
}

FlagTable::Setter ValueSetter(std::vector<double>* target, bool zero_allowed) {
  return [target, zero_allowed](const std::string& text) -> absl::Status {
    target->clear();
    for (absl::string_view part : absl::StrSplit(text, ',')) {
      CLIENT_ASSIGN_OR_RETURN(const double value,
                              ParseFraction(std::string(part)));
      if (value == 0 && !zero_allowed) {
        return absl::InvalidArgumentError("zero would divide");
      }
      target->push_back(value);
    }
    return absl::OkStatus();
  };
}

}  // namespace

void AddPixelFlags(FlagTable& flags, PixelOptions& options) {
  flags.Custom(
      "resize", "WxH", "size of pictures where the model leaves it free",
      [&options](const std::string& text) -> absl::Status {
        const std::vector<std::string> parts = absl::StrSplit(text, 'x');
        int width = 0;
        int height = 0;
        if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &width) ||
            !absl::SimpleAtoi(parts[1], &height) || width < 1 || height < 1 ||
            width > 32768 || height > 32768) {
          return absl::InvalidArgumentError(
              absl::StrCat("\"", text, "\" is no size such as 224x224"));
        }
        options.resize = {width, height};
        return absl::OkStatus();
      });
  flags.Custom("layout", "NCHW|NHWC",
               "where the channels are, if the model's dims do not tell",
               [&options](const std::string& text) -> absl::Status {
                 if (text != "NCHW" && text != "NHWC") {
                   return absl::InvalidArgumentError(
                       absl::StrCat("\"", text, "\" is neither NCHW nor NHWC"));
                 }
                 options.layout =
                     text == "NCHW" ? Layout::kNchw : Layout::kNhwc;
                 return absl::OkStatus();
               });
  flags.Switch("gray", &options.gray, "turn pictures gray");
  flags.Custom("scale", "X",
               "a tensor's value is (pixel * X - mean) / std, pixels being 0 "
               "to 255; 1/255 maps them to 0..1 (default 1)",
               [&options](const std::string& text) -> absl::Status {
                 CLIENT_ASSIGN_OR_RETURN(options.scale, ParseFraction(text));
                 return absl::OkStatus();
               });
  flags.Custom("mean", "X[,X,X]", "for all channels, or one each (default 0)",
               ValueSetter(&options.mean, true));
  flags.Custom("std", "X[,X,X]", "for all channels, or one each (default 1)",
               ValueSetter(&options.std, false));
}

absl::StatusOr<Tensor> PicturesToTensor(const std::vector<Image>& pictures,
                                        const Tensor& target,
                                        const PixelOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(const Frame frame, FrameOf(target, options.layout));
  if (target.datatype == "BYTES" || target.datatype == "BOOL") {
    return Misfit(target, absl::StrCat("its datatype is ", target.datatype));
  }
  if (pictures.size() != 1 && !frame.batched) {
    return Misfit(target, absl::StrCat("it has no batch axis for ",
                                       pictures.size(), " of them"));
  }
  if (options.resize.has_value() && !Allows(frame, *options.resize)) {
    return Misfit(target,
                  "--resize is another size than its dims, which are "
                  "fixed");
  }
  Tensor tensor{target.name, target.datatype, {}, {}};
  for (const Image& picture : pictures) {
    const Image image = Fit(picture, frame, options);
    CLIENT_RETURN_IF_ERROR(CheckChannelValues(options, image.channels));
    std::vector<int64_t> shape =
        ShapeFor(image, frame, static_cast<int64_t>(pictures.size()));
    if (!tensor.shape.empty() && shape != tensor.shape) {
      return Misfit(target, "the pictures differ in size; give --resize");
    }
    const int64_t flat = target.shape.back();
    if (frame.flat && flat != -1 && flat != shape.back()) {
      return Misfit(target, absl::StrCat("this one has ", shape.back(),
                                         " values; give --resize or --gray"));
    }
    tensor.shape = std::move(shape);
    AppendPixels(image, frame.has_channels && frame.channels_first, target,
                 options, tensor.bytes);
  }
  return tensor;
}

}  // namespace reprise::client
