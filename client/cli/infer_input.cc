#include "client/cli/infer_input.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/generated_tensor.h"
#include "client/cli/image.h"
#include "client/cli/npy.h"
#include "client/cli/raw_tensor.h"
#include "client/cli/repeat_rows.h"
#include "client/files.h"
#include "client/status.h"

namespace reprise::client {
namespace {

using Metadata = inference::ModelMetadataResponse;

bool IsGenerated(absl::string_view source) {
  return source == "random" || source == "zeros";
}

std::string InputNames(const Metadata& model) {
  return absl::StrJoin(
      model.inputs(), ", ",
      [](std::string* out, const auto& i) { absl::StrAppend(out, i.name()); });
}

bool HasInput(const Metadata& model, absl::string_view name) {
  return std::any_of(
      model.inputs().begin(), model.inputs().end(),
      [name](const auto& input) { return input.name() == name; });
}

absl::Status NoSuchInput(const Metadata& model, absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("model \"", model.name(), "\" has no input \"", name,
                   "\"; it has ", InputNames(model)));
}

absl::Status BadShape(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("--shape: \"", text, "\" is not NAME:N[,N...]"));
}

// What each input is made of, by name, and of what all others are ("" for
// nothing).
struct Sources {
  std::map<std::string, std::vector<std::string>> named;
  std::string others;
};

absl::StatusOr<Sources> ParseSources(const Metadata& model,
                                     const std::vector<std::string>& inputs) {
  Sources sources;
  for (const std::string& text : inputs) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, std::min(equals, text.size()));
    if (equals != std::string::npos && HasInput(model, name)) {
      sources.named[name].push_back(text.substr(equals + 1));
    } else if (IsGenerated(text)) {
      sources.others = text;
    } else if (equals != std::string::npos) {
      return NoSuchInput(model, name);
    } else if (model.inputs_size() == 1) {
      sources.named[model.inputs(0).name()].push_back(text);
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", text, "\" is for which input? Write NAME=", text, "; model \"",
          model.name(), "\" has ", InputNames(model)));
    }
  }
  return sources;
}

// The dims that --shape gives an input, or the model's own. Free dims are -1.
absl::StatusOr<std::vector<int64_t>> DimsFor(const Metadata& model,
                                             const Tensor& target,
                                             const InputOptions& options) {
  std::vector<int64_t> dims = target.shape;
  for (const std::string& text : options.shapes) {
    const size_t colon = text.rfind(':');
    const std::string name = text.substr(0, std::min(colon, text.size()));
    if (colon == std::string::npos || colon == 0) return BadShape(text);
    if (!HasInput(model, name)) return NoSuchInput(model, name);
    if (name != target.name) continue;
    std::vector<int64_t> given;
    for (absl::string_view part : absl::StrSplit(text.substr(colon + 1), ',')) {
      int64_t dim = 0;
      if (!absl::SimpleAtoi(part, &dim) || dim < 0) {
        return BadShape(text);
      }
      given.push_back(dim);
    }
    if (given.size() + 1 == dims.size()) given.insert(given.begin(), dims[0]);
    if (given.size() != dims.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--shape: input \"", name, "\" has dims ",
                       ShapeText(dims), ", not ", ShapeText(given)));
    }
    dims = std::move(given);
  }
  return dims;
}

absl::Status FreeDim(const Tensor& target, const std::vector<int64_t>& dims) {
  return absl::InvalidArgumentError(absl::StrCat(
      "input \"", target.name, "\" has free dims ", ShapeText(dims),
      "; say them with --shape ", target.name, ":",
      absl::StrJoin(std::vector<std::string>(dims.size() - 1, "N"), ",")));
}

// `source` is "random" or "zeros"; `index` is the input's place in the model:
// two inputs of random values are not the same.
absl::StatusOr<Tensor> Generated(const std::string& source, Tensor target,
                                 const InputOptions& options, uint64_t index) {
  if (!target.shape.empty() && target.shape[0] == -1) {
    target.shape[0] = std::max<int64_t>(options.batch, 1);
  }
  for (const int64_t dim : target.shape) {
    if (dim < 0) return FreeDim(target, target.shape);
  }
  if (source == "zeros") return MakeZeros(std::move(target));
  // The golden ratio keeps the inputs' seeds apart from those of --seed + 1.
  constexpr uint64_t kStep = 0x9E3779B97F4A7C15;
  return MakeRandom(std::move(target),
                    static_cast<uint64_t>(options.seed) + index * kStep);
}

absl::StatusOr<Tensor> ArrayTensor(const std::vector<std::string>& paths,
                                   const Tensor& target) {
  Tensor whole{target.name, target.datatype, {}, {}};
  for (const std::string& path : paths) {
    CLIENT_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    absl::StatusOr<Tensor> part = ParseNpy(bytes);
    if (!part.ok()) return Annotate(part.status(), path);
    if (part->datatype != target.datatype) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " holds ", part->datatype, ", but input \"",
                       target.name, "\" is ", target.datatype));
    }
    if (part->shape.size() + 1 == target.shape.size()) {
      part->shape.insert(part->shape.begin(), 1);
    }
    if (paths.size() == 1) {
      part->name = target.name;
      return part;
    }
    const bool fits = !part->shape.empty() &&
                      (whole.shape.empty() ||
                       (whole.shape.size() == part->shape.size() &&
                        std::equal(whole.shape.begin() + 1, whole.shape.end(),
                                   part->shape.begin() + 1)));
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " is ", ShapeText(part->shape),
                       ", which cannot follow ", ShapeText(whole.shape)));
    }
    if (whole.shape.empty()) {
      whole.shape = part->shape;
    } else {
      whole.shape[0] += part->shape[0];
    }
    whole.bytes += part->bytes;
  }
  return whole;
}

absl::StatusOr<Tensor> PictureTensor(const std::vector<std::string>& paths,
                                     const Tensor& target,
                                     const PixelOptions& pixels) {
  std::vector<Image> pictures;
  for (const std::string& path : paths) {
    CLIENT_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    absl::StatusOr<Image> picture = DecodeImage(bytes);
    if (!picture.ok()) return Annotate(picture.status(), path);
    pictures.push_back(*std::move(picture));
  }
  return PicturesToTensor(pictures, target, pixels);
}

absl::StatusOr<Tensor> RawFileTensor(const std::string& path, Tensor target) {
  if (std::count(target.shape.begin(), target.shape.end(), -1) > 1) {
    return FreeDim(target, target.shape);
  }
  CLIENT_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  return RawTensor(path, std::move(bytes), std::move(target));
}

absl::StatusOr<Tensor> FileTensor(const std::vector<std::string>& paths,
                                  const Tensor& target,
                                  const PixelOptions& pixels) {
  const auto all = [&paths](auto holds) {
    return std::all_of(paths.begin(), paths.end(), holds);
  };
  for (const std::string& path : paths) {
    if (!absl::EndsWith(path, ".npz")) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is an archive of arrays; save the one for input \"",
        target.name, "\" with np.save, as .npy"));
  }
  if (all([](const std::string& s) { return absl::EndsWith(s, ".npy"); })) {
    return ArrayTensor(paths, target);
  }
  if (all([](const std::string& s) { return IsImageName(s); })) {
    return PictureTensor(paths, target, pixels);
  }
  if (paths.size() == 1) return RawFileTensor(paths[0], target);
  return absl::InvalidArgumentError(
      absl::StrCat("input \"", target.name, "\": ", paths.size(),
                   " sources must be all pictures or all .npy files"));
}

bool TakesBatch(const Tensor& target) {
  return !target.shape.empty() && target.shape[0] == -1;
}

absl::StatusOr<Tensor> MakeInput(const std::vector<std::string>& sources,
                                 const Tensor& target,
                                 const InputOptions& options, uint64_t index) {
  if (sources.size() == 1 && IsGenerated(sources[0])) {
    return Generated(sources[0], target, options, index);
  }
  CLIENT_ASSIGN_OR_RETURN(Tensor tensor,
                          FileTensor(sources, target, options.pixels));
  // An array of other dims is the server's to refuse.
  const bool repeat = options.batch > 0 && TakesBatch(target) &&
                      tensor.shape.size() == target.shape.size();
  return repeat ? RepeatRows(std::move(tensor), options.batch)
                : std::move(tensor);
}

}  // namespace

void AddInputFlags(FlagTable& flags, InputOptions& options) {
  flags.List("input", "NAME=SOURCE", &options.inputs,
             "a .npy file, a picture (PNG, JPEG, PGM), any other file for its "
             "raw bytes (little-endian elements; strings each behind their "
             "length in 4 bytes, or in a .txt file a line each), random or "
             "zeros; NAME= may be left out if the model has one input, and "
             "random or zeros alone is for all inputs not named");
  flags.List("shape", "NAME:N,N", &options.shapes,
             "dims of random, zeros or raw bytes where the model leaves them "
             "free, without the batch");
  flags.Count("batch", "N", &options.batch,
              "rows of each input; those of files are repeated until there are "
              "N (default: what the files hold, 1 of random or zeros)");
  flags.Count("seed", "N", &options.seed,
              "of random values, which differ from input to input", 0);
  flags.Group("Pictures");
  AddPixelFlags(flags, options.pixels);
}

absl::StatusOr<std::vector<Tensor>> MakeInputs(const Metadata& model,
                                               const InputOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Sources sources, ParseSources(model, options.inputs));
  std::vector<Tensor> tensors;
  bool batched = false;
  for (const auto& input : model.inputs()) {
    Tensor target{input.name(),
                  input.datatype(),
                  {input.shape().begin(), input.shape().end()},
                  {}};
    CLIENT_ASSIGN_OR_RETURN(target.shape, DimsFor(model, target, options));
    std::vector<std::string>& named = sources.named[input.name()];
    if (named.empty() && !sources.others.empty()) {
      named.push_back(sources.others);
    }
    if (named.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input \"", input.name(), "\" (", input.datatype(), " ",
                       ShapeText(target.shape), ") is missing; give --input ",
                       input.name(), "=FILE, or --input random"));
    }
    CLIENT_ASSIGN_OR_RETURN(Tensor tensor,
                            MakeInput(named, target, options, tensors.size()));
    tensors.push_back(std::move(tensor));
    batched = batched || TakesBatch(target);
  }
  if (options.batch > 1 && !batched) {
    return absl::InvalidArgumentError(
        absl::StrCat("--batch ", options.batch, ": model \"", model.name(),
                     "\" has no input whose first dim is free"));
  }
  return tensors;
}

int64_t RowCount(const Metadata& model, const std::vector<Tensor>& tensors) {
  int64_t rows = 0;
  for (int i = 0; i < model.inputs_size(); ++i) {
    const Tensor& tensor = tensors[static_cast<size_t>(i)];
    const bool batched = model.inputs(i).shape_size() > 0 &&
                         model.inputs(i).shape(0) == -1 &&
                         !tensor.shape.empty();
    if (!batched || (i > 0 && tensor.shape[0] != rows)) return 1;
    rows = tensor.shape[0];
  }
  return std::max<int64_t>(rows, 1);
}

}  // namespace reprise::client
