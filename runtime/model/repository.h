// Folders on disk as models and versions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/model_config.pb.h"

namespace reprise {

// Where one version's file lies, below its model's folder.
struct VersionFile {
  std::string folder;  // "3", or "" where the file stands in the model's folder
  std::string file;    // "" : the configuration's default_model_filename
};

// One model as it was found. Either on disk, or what a load request brought.
struct ModelSource {
  std::string name;
  std::string folder;  // links resolved; empty for a model in memory
  std::map<int64_t, VersionFile> versions;
  std::map<std::string, std::string> files;  // in memory: path -> content

  // A file of the model; errors as ReadContainedFile.
  absl::StatusOr<std::string> Read(absl::string_view relative,
                                   int64_t max_bytes) const;
  bool in_memory() const { return folder.empty(); }
};

inline constexpr char kDefaultModelFile[] = "model.onnx";

// Every model of the repositories, in the Triton layout
// <repository>/<model>/<version>/model.onnx: each visible folder is a model,
// and each folder in it whose name is an integer >= 1 without leading zeros is
// a version. A repository that cannot be read is an error, which names it.
// A name that two repositories have is left out and put into `ambiguous`.
struct RepositoryScan {
  std::map<std::string, ModelSource> models;  // by name
  std::vector<std::string> ambiguous;
};
absl::StatusOr<RepositoryScan> ScanRepositories(
    const std::vector<std::string>& repositories);

// The names only: what an index shows. Unreadable repositories are skipped.
std::vector<std::string> ListModelNames(
    const std::vector<std::string>& repositories);

// One model of the repositories. INVALID_ARGUMENT if `name` is not one plain
// path component; NOT_FOUND if there is no such folder; INVALID_ARGUMENT if two
// repositories have it.
absl::StatusOr<ModelSource> FindModel(
    const std::vector<std::string>& repositories, absl::string_view name);

// --model-name with --model-path: a model in a folder of any usual layout, in
// this order: <path>/<name>/<version>/model.onnx, <path>/<version>/model.onnx,
// <path>/model.onnx, the only *.onnx file in <path>, <path> itself a file. The
// last three are version 1. NOT_FOUND says what was looked for.
absl::StatusOr<ModelSource> FindSingleModel(const std::string& path,
                                            const std::string& name);

// What a load request brought: "1/model.onnx" -> content. INVALID_ARGUMENT for
// a path that is not <version>/<relative path>.
absl::StatusOr<ModelSource> SourceFromFiles(
    absl::string_view name, std::map<std::string, std::string> files);

// The versions that `policy` asks for, ascending; the latest one without a
// policy. NOT_FOUND if there is none.
absl::StatusOr<std::vector<int64_t>> SelectVersions(
    const ModelSource& source, const inference::ModelVersionPolicy& policy);

// Changes whenever a file of the model is added, removed, replaced or written:
// names, sizes, times and inodes of everything below its folder, five levels
// deep. Errors as ListFolder.
absl::StatusOr<std::string> Fingerprint(const ModelSource& source);

}  // namespace reprise
