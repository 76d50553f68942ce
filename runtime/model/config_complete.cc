#include "runtime/model/config_complete.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/graph/topology.h"
#include "runtime/model/config_types.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise {
namespace {

using Config = inference::ModelConfig;
using Faults = std::vector<std::string>;

template <typename Dims64>
std::string Text(const Dims64& dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

const graph::Value* FindInput(const graph::Graph& graph,
                              absl::string_view name) {
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    if (value.name == name) return &value;
  }
  return nullptr;
}

BatchRequest BatchRequestOf(const ParsedConfig& config,
                            const ConfigParameters& parameters,
                            const graph::Graph& graph, bool strict) {
  if (config.proto.max_batch_size() > 0) return BatchRequest::kRequired;
  if (config.has_max_batch_size || strict) return BatchRequest::kForbidden;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    if (!value.dims.empty() && value.dims[0] == kFreeDim &&
        parameters.dims.contains(graph::SymbolOf(value, 0))) {
      return BatchRequest::kForbidden;  // a batch is never fixed or bounded by
                                        // a parameter
    }
  }
  for (const auto& input : config.proto.input()) {
    const graph::Value* value = FindInput(graph, input.name());
    if (value == nullptr || !value->has_shape || input.dims_size() == 0) {
      continue;
    }
    const size_t rank = static_cast<size_t>(input.dims_size());
    if (rank + 1 == value->dims.size()) return BatchRequest::kRequired;
    return BatchRequest::kForbidden;
  }
  return BatchRequest::kAllowed;
}

// Records that `symbol` has one extent only; two different ones are a fault.
void Fix(const std::string& symbol, int64_t extent, absl::string_view where,
         std::map<std::string, int64_t>& fixed, Faults& faults) {
  const auto [it, added] = fixed.emplace(symbol, extent);
  if (!added && it->second != extent) {
    faults.push_back(absl::StrCat(where, ": dim '", symbol, "' is ", extent,
                                  " here and ", it->second, " elsewhere"));
  }
}

// Holds the dims of one configured input against the model's.
void FixInput(const inference::ModelInput& input, const graph::Value& value,
              bool batched, std::map<std::string, int64_t>& fixed,
              Faults& faults) {
  const std::string where = absl::StrCat("input '", input.name(), "'");
  const size_t first = batched ? 1 : 0;
  if (!value.has_shape) return;  // refused when the signature is inferred
  if (static_cast<size_t>(input.dims_size()) + first != value.dims.size()) {
    faults.push_back(absl::StrCat(where, ": dims ", Text(input.dims()),
                                  batched ? " (the batch apart)" : "",
                                  " do not fit the model's ",
                                  DimsText(value.dims)));
    return;
  }
  for (size_t axis = first; axis < value.dims.size(); ++axis) {
    const int64_t wanted = input.dims(static_cast<int>(axis - first));
    if (value.dims[axis] == kFreeDim) {
      if (wanted > 0) {
        Fix(graph::SymbolOf(value, axis), wanted, where, fixed, faults);
      }
    } else if (wanted != value.dims[axis]) {
      faults.push_back(absl::StrCat(where, ": dims ", Text(input.dims()),
                                    " do not fit the model's ",
                                    DimsText(value.dims), " at axis ", axis));
      return;
    }
  }
}

void FixParameters(const ConfigParameters& parameters,
                   const graph::Graph& graph, bool batched,
                   std::map<std::string, int64_t>& fixed, Faults& faults) {
  std::set<std::string> symbols;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    for (size_t axis = batched ? 1 : 0; axis < value.dims.size(); ++axis) {
      if (value.dims[axis] == kFreeDim)
        symbols.insert(graph::SymbolOf(value, axis));
    }
  }
  for (const auto& [symbol, range] : parameters.dims) {
    const std::string where = absl::StrCat("parameter dim.", symbol);
    if (!symbols.contains(symbol)) {
      faults.push_back(absl::StrCat(
          where, ": the model has no free dim of this name",
          symbols.empty() ? "" : "; it has ", absl::StrJoin(symbols, ", ")));
    } else if (range.low == range.high) {
      Fix(symbol, range.low, where, fixed, faults);
    } else if (const auto it = fixed.find(symbol);
               it != fixed.end() &&
               (it->second < range.low || it->second > range.high)) {
      faults.push_back(absl::StrCat(where, ": the input's dims fix it at ",
                                    it->second, ", outside the range"));
    }
  }
}

// What the configuration says of one tensor, completed from the model.
template <typename Tensor>
void CompleteTensor(const TensorSpec& spec, absl::string_view kind, bool strict,
                    Tensor& tensor, Faults& faults) {
  const std::string where = absl::StrCat(kind, " '", spec.name, "'");
  const inference::DataType type = ToConfigType(spec.dtype);
  if (strict && (tensor.data_type() == inference::TYPE_INVALID ||
                 (tensor.dims_size() == 0 && !spec.dims.empty()))) {
    faults.push_back(absl::StrCat(
        where,
        ": data_type and dims must be given, since configurations are "
        "not completed"));
    return;
  }
  tensor.set_name(spec.name);
  if (tensor.data_type() == inference::TYPE_INVALID) {
    tensor.set_data_type(type);
  } else if (tensor.data_type() != type) {
    faults.push_back(absl::StrCat(
        where, ": data_type is ", inference::DataType_Name(tensor.data_type()),
        ", but the model has ", inference::DataType_Name(type)));
  }
  if (tensor.dims_size() == 0) {
    for (const int64_t dim : spec.dims) tensor.add_dims(dim);
  }
}

// A free dim of the model may be claimed to be fixed (the executable's dims are
// held against the claim), but not the other way round.
void CheckOutputDims(const inference::ModelOutput& output,
                     const TensorSpec& spec, Faults& faults) {
  bool fits = static_cast<size_t>(output.dims_size()) == spec.dims.size();
  for (size_t axis = 0; fits && axis < spec.dims.size(); ++axis) {
    fits = spec.dims[axis] == kFreeDim ||
           spec.dims[axis] == output.dims(static_cast<int>(axis));
  }
  if (!fits) {
    faults.push_back(
        absl::StrCat("output '", spec.name, "': dims ", Text(output.dims()),
                     " do not fit the model's ", DimsText(spec.dims)));
  }
}

// Both formats are those of an image.
void CheckFormat(const inference::ModelInput& input, Faults& faults) {
  if (input.format() == inference::ModelInput::FORMAT_NONE ||
      input.dims_size() == 3) {
    return;
  }
  faults.push_back(absl::StrCat(
      "input '", input.name(), "': format ",
      inference::ModelInput::Format_Name(input.format()),
      " requires 3 dims, the batch apart, not ", Text(input.dims())));
}

template <typename Tensors>
bool Lists(const Tensors& tensors, absl::string_view name) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const auto& tensor) { return tensor.name() == name; });
}

// Every configured tensor must be one of the model's; without any, all are.
template <typename Tensors>
void CompleteTensors(const std::vector<TensorSpec>& specs,
                     absl::string_view kind, bool strict, Tensors& tensors,
                     Faults& faults) {
  if (tensors.empty() && strict) {
    faults.push_back(absl::StrCat(
        "no ", kind, " is given, and configurations are not completed"));
    return;
  }
  if (tensors.empty()) {
    for (const TensorSpec& spec : specs) tensors.Add()->set_name(spec.name);
  }
  for (auto& tensor : tensors) {
    const auto spec = std::find_if(
        specs.begin(), specs.end(),
        [&](const TensorSpec& one) { return one.name == tensor.name(); });
    if (spec == specs.end()) {
      const auto name = [](std::string* text, const TensorSpec& one) {
        absl::StrAppend(text, one.name);
      };
      faults.push_back(absl::StrCat(kind, " '", tensor.name(),
                                    "' is not one of the model's, which has ",
                                    absl::StrJoin(specs, ", ", name)));
    } else {
      CompleteTensor(*spec, kind, strict, tensor, faults);
    }
  }
}

void CompleteBatching(const ParsedConfig& parsed,
                      const CompletionOptions& options, Signature& signature,
                      Config& config, Faults& faults) {
  if (signature.batched && config.max_batch_size() == 0) {
    config.set_max_batch_size(options.default_max_batch_size);
    if (config.max_batch_size() > 1 &&
        config.scheduling_choice_case() == Config::SCHEDULING_CHOICE_NOT_SET) {
      config.mutable_dynamic_batching();
    }
  }
  signature.max_batch = signature.batched ? config.max_batch_size() : 1;
  if (!config.has_dynamic_batching()) return;
  auto& batching = *config.mutable_dynamic_batching();
  for (const int size : batching.preferred_batch_size()) {
    // Sizes above a maximum that was given have been reported already.
    if (size > config.max_batch_size() && parsed.proto.max_batch_size() == 0) {
      faults.push_back(absl::StrCat(
          "dynamic_batching.preferred_batch_size ", size,
          " does not lie in [1, max_batch_size = ", config.max_batch_size(),
          "]"));
    }
  }
  if (batching.preferred_batch_size_size() == 0 && signature.batched) {
    batching.add_preferred_batch_size(config.max_batch_size());
  }
}

void CompleteRest(const CompletionOptions& options, Config& config) {
  config.set_name(options.model);
  config.set_platform("onnxruntime_onnx");
  config.set_backend("onnxruntime");
  const inference::ModelVersionPolicy& policy = config.version_policy();
  if (policy.policy_choice_case() ==
          inference::ModelVersionPolicy::POLICY_CHOICE_NOT_SET ||
      (policy.has_latest() && policy.latest().num_versions() == 0)) {
    config.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  }
  if (config.default_model_filename().empty()) {
    config.set_default_model_filename(options.model_filename);
  }
  if (config.instance_group_size() == 0) config.add_instance_group();
  for (int i = 0; i < config.instance_group_size(); ++i) {
    auto& group = *config.mutable_instance_group(i);
    if (group.name().empty())
      group.set_name(absl::StrCat(options.model, "_", i));
    if (group.count() == 0) group.set_count(1);
    if (group.kind() == inference::ModelInstanceGroup::KIND_AUTO) {
      group.set_kind(options.gpus ? inference::ModelInstanceGroup::KIND_GPU
                                  : inference::ModelInstanceGroup::KIND_CPU);
    }
  }
  auto& optimization = *config.mutable_optimization();
  if (!optimization.has_input_pinned_memory()) {
    optimization.mutable_input_pinned_memory()->set_enable(true);
  }
  if (!optimization.has_output_pinned_memory()) {
    optimization.mutable_output_pinned_memory()->set_enable(true);
  }
}

}  // namespace

SignatureRequest RequestSignature(const ParsedConfig& config,
                                  const ConfigParameters& parameters,
                                  const graph::Graph& graph, bool strict,
                                  std::vector<std::string>& faults) {
  SignatureRequest request;
  request.batch = BatchRequestOf(config, parameters, graph, strict);
  request.options.allow_batch = request.batch != BatchRequest::kForbidden;
  auto& fixed = request.options.fixed_dims;
  for (const auto& input : config.proto.input()) {
    const graph::Value* value = FindInput(graph, input.name());
    if (value != nullptr && input.dims_size() > 0) {
      FixInput(input, *value, request.options.allow_batch, fixed, faults);
    }
  }
  FixParameters(parameters, graph, request.options.allow_batch, fixed, faults);
  return request;
}

void KeepListedOutputs(const Config& config, graph::Graph& graph) {
  if (config.output_size() == 0) return;
  std::vector<graph::ValueId> kept;
  for (const graph::ValueId id : graph.outputs) {
    if (Lists(config.output(), graph.values[static_cast<size_t>(id)].name)) {
      kept.push_back(id);
    }
  }
  // None of them: a fault that CompleteConfig words, with the model's names.
  if (kept.empty()) return;
  graph.outputs = std::move(kept);
  graph::DropUnusedNodes(graph);
  graph::DropUnusedValues(graph);
}

Config CompleteConfig(const ParsedConfig& parsed,
                      const CompletionOptions& options, Signature& signature,
                      std::vector<std::string>& faults) {
  Config config = parsed.proto;
  if (config.input_size() > 0) {
    for (const TensorSpec& spec : signature.inputs) {
      if (!Lists(config.input(), spec.name)) {
        faults.push_back(absl::StrCat("input '", spec.name,
                                      "' of the model is missing in the "
                                      "configuration"));
      }
    }
  }
  CompleteTensors(signature.inputs, "input", options.strict,
                  *config.mutable_input(), faults);
  CompleteTensors(signature.outputs, "output", options.strict,
                  *config.mutable_output(), faults);
  for (const auto& input : config.input()) CheckFormat(input, faults);
  for (const auto& output : config.output()) {
    for (const TensorSpec& spec : signature.outputs) {
      if (spec.name == output.name()) CheckOutputDims(output, spec, faults);
    }
  }
  CompleteBatching(parsed, options, signature, config, faults);
  CompleteRest(options, config);
  return config;
}

}  // namespace reprise
