#include "server/tools/check.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/model/loader.h"
#include "runtime/model/repository.h"
#include "runtime/tensor/dtype.h"
#include "runtime/worker/load_pipeline.h"
#include "server/flags.h"

namespace reprise {
namespace {

struct Counts {
  int ok = 0;
  int failed = 0;
};

std::string TensorText(const TensorSpec& spec) {
  std::vector<std::string> dims;
  for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
    dims.push_back(spec.dims[axis] == kFreeDim ? spec.symbols[axis]
                                               : absl::StrCat(spec.dims[axis]));
  }
  return absl::StrCat(spec.name, " ", DTypeName(spec.dtype), "[",
                      absl::StrJoin(dims, ","), "]");
}

std::string TensorsText(const std::vector<TensorSpec>& specs) {
  return absl::StrJoin(specs, ", ",
                       [](std::string* text, const TensorSpec& spec) {
                         absl::StrAppend(text, TensorText(spec));
                       });
}

// The rungs that would run: those that were prepared, else those asked for.
std::string LadderText(const ImportedVersion& imported,
                       const PreparedVersion& prepared) {
  std::vector<int> rows = imported.config.ladder;
  if (!prepared.variants.empty()) {
    rows.clear();
    for (const Rung& rung : prepared.variants[0].lanes[0]->ladder()) {
      rows.push_back(rung.rows);
    }
  }
  return absl::StrJoin(rows, ",");
}

void WriteFailure(absl::string_view what, const absl::Status& status,
                  Counts& counts, std::ostream& out) {
  ++counts.failed;
  out << "failed  " << what << "  " << status.message() << "\n";
}

// One version, from its file to the device and away again.
absl::Status CheckVersion(const ModelSource& source, int64_t version,
                          const ModelDefinition& definition,
                          const LoaderOptions& options, Device& device,
                          std::ostream& out) {
  REPRISE_ASSIGN_OR_RETURN(
      const ImportedVersion imported,
      ImportVersion(source, version, definition, options, device.memory()));
  REPRISE_ASSIGN_OR_RETURN(const PreparedVersion prepared,
                           PrepareVersion(imported, device));
  out << "ok      " << imported.text() << "  "
      << TensorsText(imported.signature.inputs) << " -> "
      << TensorsText(imported.signature.outputs)
      << "  max_batch_size=" << imported.config.proto.max_batch_size()
      << " ladder=" << LadderText(imported, prepared)
      << " variants=" << prepared.variants.size() << "\n";
  for (const std::string& warning : imported.warnings) {
    out << "        warning: " << warning << "\n";
  }
  for (const std::string& note : imported.notes) {
    out << "        note: " << note << "\n";
  }
  return absl::OkStatus();
}

void CheckVersions(const ModelSource& source,
                   const std::vector<int64_t>& versions,
                   const ModelDefinition& definition,
                   const LoaderOptions& options, Device& device, Counts& counts,
                   std::ostream& out) {
  for (const int64_t version : versions) {
    const absl::Status status =
        CheckVersion(source, version, definition, options, device, out);
    if (status.ok()) {
      ++counts.ok;
    } else {
      WriteFailure(absl::StrCat(source.name, "/", version), status, counts,
                   out);
    }
  }
}

void CheckModel(const ModelSource& source, const LoaderOptions& options,
                Device& device, Counts& counts, std::ostream& out) {
  const auto definition = ReadDefinition(source, std::nullopt, options);
  if (!definition.ok()) {
    return WriteFailure(source.name, definition.status(), counts, out);
  }
  const auto versions =
      SelectVersions(source, definition->config.proto.version_policy());
  if (!versions.ok()) {
    WriteFailure(source.name, versions.status(), counts, out);
  } else {
    CheckVersions(source, *versions, *definition, options, device, counts, out);
  }
  for (const std::string& warning : definition->warnings) {
    out << "        warning: " << warning << "\n";
  }
}

absl::StatusOr<RepositoryScan> ScanAll(const ModelManagerOptions& options) {
  if (options.model_path.empty()) {
    return ScanRepositories(options.repositories);
  }
  REPRISE_ASSIGN_OR_RETURN(
      ModelSource source,
      FindSingleModel(options.model_path, options.model_name));
  RepositoryScan scan;
  scan.models.emplace(options.model_name, std::move(source));
  return scan;
}

}  // namespace

bool CheckModels(const ModelManagerOptions& options, Device& device,
                 std::ostream& out) {
  Counts counts;
  const LoaderOptions loader =
      MakeLoaderOptions(options, /*gpus=*/device.name() != "cpu");
  const auto scan = ScanAll(options);
  if (!scan.ok()) {
    WriteFailure("repository", scan.status(), counts, out);
  } else {
    for (const auto& [name, source] : scan->models) {
      CheckModel(source, loader, device, counts, out);
    }
    for (const auto& [name, status] : scan->unreadable) {
      WriteFailure(name, status, counts, out);
    }
    for (const std::string& name : scan->ambiguous) {
      WriteFailure(name,
                   absl::InvalidArgumentError(
                       "it stands in more than one model repository"),
                   counts, out);
    }
  }
  out << counts.ok << " ok, " << counts.failed << " failed\n";
  return counts.failed == 0;
}

int RunCheck(std::span<const char* const> args, const DeviceMaker& make_device,
             std::ostream& out) {
  std::vector<std::string> flags;
  bool leading = true;  // folders stand before the first flag
  for (const char* arg : args) {
    leading = leading && !absl::StartsWith(arg, "-");
    flags.push_back(leading ? absl::StrCat("--model-repository=", arg) : arg);
  }
  std::vector<const char*> pointers;
  pointers.reserve(flags.size());
  for (const std::string& flag : flags) pointers.push_back(flag.c_str());
  const auto line = ParseCommandLine(pointers);
  if (!line.ok() || line->command != Command::kServe) {
    out << "usage: reprised check DIR... [flags of the daemon]\n";
    if (line.ok()) return 0;
    out << line.status().message() << "\n";
    return 2;
  }
  SetLogOptions(line->options.log);
  const auto device = make_device(line->options);
  if (!device.ok()) {
    out << "no device: " << device.status().message() << "\n";
    return 1;
  }
  ModelManagerOptions models = line->options.models;
  models.max_message_bytes = line->options.grpc.max_message_bytes;
  return CheckModels(models, **device, out) ? 0 : 1;
}

}  // namespace reprise
