// A configuration and its model: what the one leaves open, the other decides.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/model_config.pb.h"
#include "runtime/graph/graph.h"
#include "runtime/model/config_parameters.h"
#include "runtime/model/config_parse.h"
#include "runtime/ops/infer_signature.h"

namespace reprise {

// Whether axis 0 of the model's tensors is the batch, as far as the
// configuration has a say.
enum class BatchRequest {
  kRequired,   // max_batch_size > 0, or dims that leave axis 0 out
  kAllowed,    // not said: if the model allows it
  kForbidden,  // max_batch_size: 0, or dims that have axis 0
};

struct SignatureRequest {
  BatchRequest batch = BatchRequest::kAllowed;
  ops::SignatureOptions options;
};

// What to ask of ops::InferSignature. The configuration's dims are held against
// the model's here; every fault is added to `faults` and names the tensor.
// `strict`: nothing is completed, so that batching must have been asked for.
SignatureRequest RequestSignature(const ParsedConfig& config,
                                  const ConfigParameters& parameters,
                                  const graph::Graph& graph, bool strict,
                                  std::vector<std::string>& faults);

// Drops the outputs that a configuration with outputs does not list, which are
// not served, and the nodes that make nothing else. Names that the model does
// not have are left to CompleteConfig.
void KeepListedOutputs(const inference::ModelConfig& config,
                       graph::Graph& graph);

struct CompletionOptions {
  std::string model;  // its folder's name
  int default_max_batch_size = 32;
  bool strict = false;         // what is missing is a fault
  bool gpus = false;           // the devices are GPUs: what KIND_AUTO becomes
  std::string model_filename;  // of the file that was read
};

// Fills in what `config` leaves out, from the signature of the model, and sets
// signature.max_batch. Faults are added to `faults` as above.
inference::ModelConfig CompleteConfig(const ParsedConfig& config,
                                      const CompletionOptions& options,
                                      Signature& signature,
                                      std::vector<std::string>& faults);

}  // namespace reprise
