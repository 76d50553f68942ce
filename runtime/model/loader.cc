#include "runtime/model/loader.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/model/admission.h"
#include "runtime/model/config_check.h"
#include "runtime/model/config_complete.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/infer_signature.h"

namespace reprise {
namespace {

constexpr int64_t kMaxLabelBytes = int64_t{16} << 20;

struct ConfigText {
  std::string file;  // for messages; empty when there is none
  std::string text;
};

absl::StatusOr<ConfigText> FindConfigText(const ModelSource& source,
                                          const LoaderOptions& options) {
  std::vector<std::string> files = {"config.pbtxt"};
  if (!options.config_name.empty()) {
    files.insert(files.begin(),
                 absl::StrCat("configs/", options.config_name, ".pbtxt"));
  }
  for (const std::string& file : files) {
    auto text = source.Read(file, kMaxConfigBytes);
    if (text.ok()) return ConfigText{file, *std::move(text)};
    if (!absl::IsNotFound(text.status())) return text.status();
  }
  if (options.strict_config) {
    return absl::NotFoundError(
        "it has no config.pbtxt, and configurations are not completed");
  }
  return ConfigText{};
}

absl::Status FaultsStatus(const std::vector<std::string>& faults) {
  ConfigFindings findings;
  findings.faults = faults;
  return findings.status("configuration");
}

// Versions that the configuration names and nobody will find.
void WarnOfVersions(const ModelSource& source, ModelDefinition& definition) {
  for (const int64_t version :
       definition.config.proto.version_policy().specific().versions()) {
    if (source.versions.contains(version)) continue;
    definition.warnings.push_back(
        absl::StrCat("version_policy.specific names version ", version,
                     ", which the model does not have"));
  }
}

// A refusal for want of room says how much there is.
absl::Status WithFree(const absl::Status& status, const DeviceMemory& memory) {
  if (!absl::IsResourceExhausted(status) || memory.total <= 0) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; ", memory.free,
                                   " bytes of memory are free"));
}

absl::StatusOr<graph::Graph> ImportGraph(const ModelSource& source,
                                         const VersionFile& place,
                                         const std::string& file,
                                         const DeviceMemory& memory, bool gpu) {
  onnx_import::ImportOptions options;
  onnx_import::ImportLimits& limits = options.limits;
  options.folder = source.FolderOf(place);
  limits.max_file_bytes =
      std::min(limits.max_file_bytes, MaxFileBytes(memory, gpu));
  auto bytes = source.ReadOf(place, file, limits.max_file_bytes);
  if (!bytes.ok()) return WithFree(bytes.status(), memory);
  limits.max_constant_bytes = std::min(
      limits.max_constant_bytes,
      MaxConstantBytes(memory, gpu, static_cast<int64_t>(bytes->size())));
  auto graph = onnx_import::ImportModel(*std::move(bytes), options);
  if (!graph.ok()) return Annotate(WithFree(graph.status(), memory), file);
  return graph;
}

// An input that has a default value in the model is served with that value. A
// configuration that lists it wants more.
void CheckDefaults(const inference::ModelConfig& config,
                   const std::vector<std::string>& defaulted,
                   std::vector<std::string>& faults) {
  for (const auto& input : config.input()) {
    if (std::find(defaulted.begin(), defaulted.end(), input.name()) !=
        defaulted.end()) {
      faults.push_back(absl::StrCat(
          "input '", input.name(),
          "' has a default value in the model, which requests cannot replace"));
    }
  }
}

// "w, b and 3 more"
std::string SomeOf(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  const size_t shown = std::min(names.size(), kShown);
  std::string text = absl::StrJoin(
      names.begin(), names.begin() + static_cast<int64_t>(shown), ", ");
  if (shown < names.size()) {
    absl::StrAppend(&text, " and ", names.size() - shown, " more");
  }
  return text;
}

// Infers the signature as the configuration wants it, and completes the latter.
absl::StatusOr<inference::ModelConfig> Reconcile(
    const ModelDefinition& definition, const LoaderOptions& options,
    const std::string& file, const graph::Graph& graph,
    ImportedVersion& imported) {
  std::vector<std::string> faults;
  const SignatureRequest request =
      RequestSignature(definition.config, definition.parameters, graph,
                       options.strict_config, faults);
  CheckDefaults(definition.config.proto, graph.defaulted_inputs, faults);
  REPRISE_RETURN_IF_ERROR(FaultsStatus(faults));
  if (!graph.defaulted_inputs.empty()) {
    imported.notes.push_back(
        absl::StrCat("inputs with a default value in the model are served as "
                     "constants: ",
                     SomeOf(graph.defaulted_inputs)));
  }
  REPRISE_ASSIGN_OR_RETURN(ops::InferredSignature inferred,
                           ops::InferSignature(graph, request.options));
  imported.signature = std::move(inferred.signature);
  if (!imported.signature.batched && request.batch == BatchRequest::kRequired) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the configuration batches axis 0, but the model cannot be batched: ",
        inferred.not_batched));
  }
  if (!imported.signature.batched && request.batch == BatchRequest::kAllowed) {
    imported.notes.push_back(
        absl::StrCat("not batched: ", inferred.not_batched));
  }
  CompletionOptions completion;
  completion.model = imported.name;
  completion.default_max_batch_size = options.default_max_batch_size;
  completion.strict = options.strict_config;
  completion.gpus = options.gpus;
  completion.model_filename = file;
  inference::ModelConfig config =
      CompleteConfig(definition.config, completion, imported.signature, faults);
  REPRISE_RETURN_IF_ERROR(FaultsStatus(faults));
  return config;
}

absl::Status ReadLabels(const ModelSource& source, ModelConfig& config) {
  for (const auto& output : config.proto.output()) {
    if (output.label_filename().empty()) continue;
    const auto text = source.Read(output.label_filename(), kMaxLabelBytes);
    if (!text.ok()) {
      return Annotate(text.status(), absl::StrCat("output '", output.name(),
                                                  "': label_filename"));
    }
    std::vector<std::string> lines = absl::StrSplit(*text, '\n');
    if (lines.back().empty()) lines.pop_back();
    for (std::string& line : lines) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
    }
    config.labels[output.name()] = std::move(lines);
  }
  return absl::OkStatus();
}

void WarnOfDevices(const LoaderOptions& options,
                   const ConfigParameters& parameters,
                   ImportedVersion& imported) {
  if (options.gpus) return;
  if (imported.config.kind == DeviceKind::kGpu) {
    imported.warnings.emplace_back(
        "instance_group asks for KIND_GPU; this server has no GPU, and the "
        "model runs on the CPU");
  }
  if (parameters.precision_configured && parameters.precision != "fp32") {
    imported.notes.push_back(absl::StrCat("precision=", parameters.precision,
                                          " has no effect: the CPU runs fp32"));
  }
  imported.config.precision = "fp32";
}

// What the configuration claims of an output whose dims the model leaves open.
absl::Status CheckOutputs(const inference::ModelConfig& config,
                          const Signature& bound) {
  for (const TensorSpec& spec : bound.outputs) {
    for (const auto& output : config.output()) {
      if (output.name() != spec.name) continue;
      bool fits = static_cast<size_t>(output.dims_size()) == spec.dims.size();
      for (size_t axis = 0; fits && axis < spec.dims.size(); ++axis) {
        const int64_t claimed = output.dims(static_cast<int>(axis));
        fits = claimed == kFreeDim || claimed == spec.dims[axis];
      }
      if (!fits) {
        return absl::InvalidArgumentError(
            absl::StrCat("output '", spec.name, "': the model gives dims ",
                         DimsText(spec.dims), ", the configuration says [",
                         absl::StrJoin(output.dims(), ","), "]"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string ImportedVersion::text() const {
  return absl::StrCat(name, "/", version);
}

absl::StatusOr<ModelDefinition> ReadDefinition(
    const ModelSource& source, const std::optional<std::string>& json,
    const LoaderOptions& options) {
  ModelDefinition definition;
  std::string where = "config";
  if (json.has_value()) {
    auto parsed = ParseConfigJson(*json);
    if (!parsed.ok()) return Annotate(parsed.status(), where);
    definition.config = *std::move(parsed);
  } else {
    REPRISE_ASSIGN_OR_RETURN(const ConfigText found,
                             FindConfigText(source, options));
    if (!found.file.empty()) where = found.file;
    auto parsed = ParseConfigText(found.text);
    if (!parsed.ok()) return Annotate(parsed.status(), where);
    definition.config = *std::move(parsed);
  }
  inference::ModelConfig& proto = definition.config.proto;
  if (source.any_name && !proto.name().empty()) proto.set_name(source.name);
  ConfigFindings findings = CheckConfig(proto, source.name);
  definition.parameters =
      ReadParameters(proto, findings.faults, findings.unknown);
  REPRISE_RETURN_IF_ERROR(findings.status(where));
  definition.warnings = source.warnings;
  WarnOfVersions(source, definition);
  if (std::string warning = findings.warning(); !warning.empty()) {
    definition.warnings.push_back(std::move(warning));
  }
  return definition;
}

absl::StatusOr<ImportedVersion> ImportVersion(const ModelSource& source,
                                              int64_t version,
                                              const ModelDefinition& definition,
                                              const LoaderOptions& options,
                                              const DeviceMemory& memory) {
  ImportedVersion imported;
  imported.name = source.name;
  imported.version = version;
  const auto place = source.versions.find(version);
  if (place == source.versions.end()) {
    return absl::NotFoundError(
        absl::StrCat("version ", version, " has no folder"));
  }
  std::string file = place->second.file;
  if (file.empty()) file = definition.config.proto.default_model_filename();
  if (file.empty()) file = kDefaultModelFile;
  REPRISE_ASSIGN_OR_RETURN(
      graph::Graph graph,
      ImportGraph(source, place->second, file, memory, options.gpus));
  KeepListedOutputs(definition.config.proto, graph);
  REPRISE_ASSIGN_OR_RETURN(
      const inference::ModelConfig completed,
      Reconcile(definition, options, file, graph, imported));
  REPRISE_ASSIGN_OR_RETURN(
      imported.config, BuildModelConfig(completed, imported.signature,
                                        definition.parameters, options.bounds));
  WarnOfDevices(options, definition.parameters, imported);
  REPRISE_RETURN_IF_ERROR(ReadLabels(source, imported.config));
  REPRISE_RETURN_IF_ERROR(CheckMessageSize(
      imported.signature, options.max_message_bytes, imported.warnings));
  REPRISE_ASSIGN_OR_RETURN(imported.warmup,
                           MakeWarmup(completed, imported.signature, source));
  imported.graph = std::make_shared<const graph::Graph>(std::move(graph));
  return imported;
}

absl::StatusOr<PreparedVersion> PrepareVersion(const ImportedVersion& imported,
                                               Device& device) {
  REPRISE_RETURN_IF_ERROR(
      CheckMemory(ConstantBytes(*imported.graph), device.memory()));
  PreparedVersion prepared;
  LoadOptions options;
  options.model = imported.text();
  options.precision = imported.config.precision;
  options.may_drop_rungs = !imported.config.ladder_configured;
  options.fusions_off = imported.config.fusions_off;
  REPRISE_ASSIGN_OR_RETURN(
      prepared.loaded,
      device.Load(imported.graph, imported.signature, options));
  std::vector<VariantKey> keys;
  for (const auto& variant : imported.config.variants) {
    const VariantKey key = VariantKeyOf(imported.signature, variant);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      keys.push_back(key);
    }
  }
  if (imported.signature.free_symbols.empty() && keys.empty()) {
    keys.emplace_back();
  }
  for (const VariantKey& key : keys) {
    PreparedVersion::Variant variant;
    variant.key = key;
    for (int lane = 0; lane < imported.config.instances; ++lane) {
      REPRISE_ASSIGN_OR_RETURN(
          auto executable,
          prepared.loaded->Prepare(key, imported.config.ladder, lane));
      REPRISE_RETURN_IF_ERROR(
          CheckOutputs(imported.config.proto, executable->signature()));
      variant.lanes.push_back(std::move(executable));
    }
    prepared.variants.push_back(std::move(variant));
  }
  return prepared;
}

}  // namespace reprise
