#include "server/tools/check.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/utf8.h"
#include "runtime/model/loader.h"
#include "runtime/model/repository.h"
#include "runtime/tensor/dtype.h"
#include "runtime/worker/load_pipeline.h"
#include "server/flags.h"

namespace reprise {
namespace {

std::string TensorText(const TensorSpec& spec) {
  std::vector<std::string> dims;
  for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
    dims.push_back(spec.dims[axis] == kFreeDim ? spec.symbols[axis]
                                               : absl::StrCat(spec.dims[axis]));
  }
  return absl::StrCat(LogName(spec.name), " ", DTypeName(spec.dtype), "[",
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

// Checks one model after another, and says and counts what came of them.
class Checker {
 public:
  Checker(const ModelManagerOptions& options, Device& device, std::ostream& out)
      : loader_(MakeLoaderOptions(options,
                                  /*gpus=*/device.gpu_index().has_value())),
        device_(device),
        out_(out) {}

  void CheckAll(const RepositoryScan& scan) {
    for (const auto& [name, source] : scan.models) CheckModel(source);
    for (const auto& [name, status] : scan.unreadable) Fail(name, status);
    for (const std::string& folder : scan.misnamed) {
      Fail(folder, absl::InvalidArgumentError(
                       "a model's name must be UTF-8: rename the folder"));
    }
    for (const std::string& name : scan.ambiguous) {
      Fail(name, absl::InvalidArgumentError(
                     "it stands in more than one model repository"));
    }
  }

  void Fail(absl::string_view what, const absl::Status& status) {
    ++failed_;
    out_ << "failed  " << what << "  " << ToUtf8(status.message()) << "\n";
  }

  // The last line; whether all is ok, and there is something at all: a folder
  // without models is the wrong one.
  bool Finish() {
    if (ok_ + failed_ == 0) {
      out_ << "no model found\n";
    } else {
      out_ << ok_ << " ok, " << failed_ << " failed\n";
    }
    return ok_ > 0 && failed_ == 0;
  }

 private:
  void CheckModel(const ModelSource& source) {
    const auto definition = ReadDefinition(source, std::nullopt, loader_);
    if (!definition.ok()) return Fail(source.name, definition.status());
    const auto versions =
        SelectVersions(source, definition->config.proto.version_policy());
    if (versions.ok()) {
      for (const int64_t version : *versions) {
        CheckVersion(source, version, *definition);
      }
    } else {
      Fail(source.name, versions.status());
    }
    WriteNotes("warning", definition->warnings);
  }

  void CheckVersion(const ModelSource& source, int64_t version,
                    const ModelDefinition& definition) {
    const absl::Status status = TryVersion(source, version, definition);
    if (status.ok()) {
      ++ok_;
    } else {
      Fail(absl::StrCat(source.name, "/", version), status);
    }
  }

  // From its file to the device and away again.
  absl::Status TryVersion(const ModelSource& source, int64_t version,
                          const ModelDefinition& definition) {
    REPRISE_ASSIGN_OR_RETURN(
        const ImportedVersion imported,
        ImportVersion(source, version, definition, loader_, device_.memory()));
    REPRISE_ASSIGN_OR_RETURN(const PreparedVersion prepared,
                             PrepareVersion(imported, device_));
    out_ << "ok      " << imported.text() << "  "
         << TensorsText(imported.signature.inputs) << " -> "
         << TensorsText(imported.signature.outputs)
         << "  max_batch_size=" << imported.config.proto.max_batch_size()
         << " ladder=" << LadderText(imported, prepared)
         << " variants=" << prepared.variants.size() << "\n";
    WriteNotes("warning", imported.warnings);
    WriteNotes("note", imported.notes);
    return absl::OkStatus();
  }

  void WriteNotes(absl::string_view kind,
                  const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      out_ << "        " << kind << ": " << ToUtf8(text) << "\n";
    }
  }

  const LoaderOptions loader_;
  Device& device_;
  std::ostream& out_;
  int ok_ = 0;
  int failed_ = 0;
};

constexpr char kUsage[] = "usage: reprised check DIR... [flags]\n";
constexpr char kMore[] = "reprised check --help says more\n";
constexpr char kHelp[] = R"(
Loads every model of the repositories DIR as a server would, serves none, and
says of each version whether it is ok: configuration, model, signature, and every
batch size that it would run at.

Flags are those of the daemon (reprised --help lists them). Those that matter:
  --model-name=NAME --model-path=DIR   one model instead of repositories
  --device=auto|cpu|cuda               what the models would run on
  --default-max-batch-size=N, --disable-auto-complete-config,
  --model-config-name=NAME, --grpc-max-message-bytes=N

Exit codes: 0 all are ok; 1 one of them is not, or there is none; 2 bad command
line.
)";

// The arguments as the daemon understands them. A folder is what is neither a
// flag nor the value of the flag before it.
absl::StatusOr<CommandLine> ParseCheckLine(std::span<const char* const> args) {
  std::vector<std::string> flags;
  std::vector<std::string> faults;
  for (size_t i = 0; i < args.size(); ++i) {
    const absl::string_view arg = args[i];
    if (absl::StartsWith(arg, "-")) {
      flags.emplace_back(arg);
      if (i + 1 < args.size() && TakesNext(arg, args[i + 1])) {
        flags.emplace_back(args[++i]);
      }
      continue;
    }
    flags.push_back(absl::StrCat("--model-repository=", arg));
    std::error_code error;
    if (!std::filesystem::is_directory(std::string(arg), error)) {
      faults.push_back(absl::StrCat("'", arg, "' is not a directory"));
    }
  }
  if (args.empty()) {
    return absl::InvalidArgumentError("nothing to check: name a repository");
  }
  std::vector<const char*> pointers;
  pointers.reserve(flags.size());
  for (const std::string& flag : flags) pointers.push_back(flag.c_str());
  absl::StatusOr<CommandLine> line = ParseCommandLine(pointers);
  if (faults.empty()) return line;
  // A flag that is misspelt comes first: what follows it is its value, perhaps.
  std::vector<std::string> lines;
  for (absl::string_view text : absl::StrSplit(line.status().message(), '\n')) {
    const bool folder = absl::StartsWith(text, "--model-repository: ");
    if (!text.empty() && !folder) lines.emplace_back(text);
  }
  lines.insert(lines.end(), faults.begin(), faults.end());
  return absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

}  // namespace

bool CheckModels(const ModelManagerOptions& options, Device& device,
                 std::ostream& out) {
  Checker checker(options, device, out);
  const auto scan = ScanModels(options);
  if (scan.ok()) {
    checker.CheckAll(*scan);
  } else {
    checker.Fail("repository", scan.status());
  }
  return checker.Finish();
}

int RunCheck(std::span<const char* const> args, const DeviceMaker& make_device,
             std::ostream& out) {
  const auto line = ParseCheckLine(args);
  if (!line.ok()) {
    out << line.status().message() << "\n" << kUsage << kMore;
    return 2;
  }
  if (line->command != Command::kServe) {
    out << kUsage << kHelp;
    return 0;
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
