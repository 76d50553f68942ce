// From the words of the command line to the input tensors of a request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/flags.h"
#include "client/cli/image_tensor.h"
#include "client/tensor.h"
#include "proto/grpc_service.pb.h"

namespace reprise::client {

struct InputOptions {
  // "NAME=SOURCE", or "SOURCE" if the model has one input. A source is a .npy
  // file, a picture, any other file (RawTensor), "random" or "zeros". Several
  // pictures or arrays for one input are the rows of a batch. "random" or
  // "zeros" without a name is for all inputs that are not named.
  std::vector<std::string> inputs;
  std::vector<std::string> shapes;  // "NAME:2,3": dims of generated or raw data
  // Rows of each input whose first dim is free: of generated data, and of files
  // by repeating theirs. 0: one generated row, or what the files hold.
  int64_t batch = 0;
  int64_t seed = 1;
  PixelOptions pixels;
};

// --input, --shape, --batch, --seed and the flags of pictures.
void AddInputFlags(FlagTable& flags, InputOptions& options);

// One tensor for each input of the model, in its order. INVALID_ARGUMENT names
// the input that is missing, unknown or does not fit, which includes files of
// more rows than the batch; NOT_FOUND the file.
absl::StatusOr<std::vector<Tensor>> MakeInputs(
    const inference::ModelMetadataResponse& model, const InputOptions& options);

// The rows of a request with these tensors, one for each input of the model:
// their first dim, where the model leaves it free for all and they agree; else
// 1.
int64_t RowCount(const inference::ModelMetadataResponse& model,
                 const std::vector<Tensor>& tensors);

}  // namespace reprise::client
