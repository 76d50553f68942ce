// The requests of model_warmup, as bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/model_config.pb.h"
#include "runtime/batch/batch_output.h"
#include "runtime/model/repository.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// One request that is run before its version is ready, as often as `count`
// says. Inputs stand in the signature's order, `rows` rows each.
struct WarmupRequest {
  std::string name;
  int rows = 1;
  int count = 1;
  VariantKey variant;
  std::vector<HostTensor> inputs;
};

// The bytes of all warm-up inputs of a model may not pass this.
inline constexpr int64_t kMaxWarmupBytes = int64_t{1} << 30;

// Every sample of `config.model_warmup`. Input files are read from `warmup/` in
// the model's folder and have the raw form that they have on the wire.
// INVALID_ARGUMENT names the sample and the input: one that is missing or
// unknown, a datatype or dims that are not the model's, a file of another size.
absl::StatusOr<std::vector<WarmupRequest>> MakeWarmup(
    const inference::ModelConfig& config, const Signature& signature,
    const ModelSource& source);

}  // namespace reprise
