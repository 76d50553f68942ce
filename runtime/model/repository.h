// Folders on disk as models and versions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
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
  std::string target = {};  // what `folder` leads to, where it is a link
};

// One model as it was found. Either on disk, or what a load request brought.
struct ModelSource {
  std::string name;
  std::string folder;  // links resolved; empty for a model in memory
  std::map<int64_t, VersionFile> versions;
  std::map<std::string, std::string> files;  // in memory: path -> content
  std::vector<std::string> warnings;         // what was left out, and why
  // Its configuration may have another name: that of --model-name counts.
  bool any_name = false;

  // A file of the model; errors as ReadContainedFile.
  absl::StatusOr<std::string> Read(absl::string_view relative,
                                   int64_t max_bytes) const;
  // A file of one of its versions, likewise.
  absl::StatusOr<std::string> ReadOf(const VersionFile& version,
                                     absl::string_view relative,
                                     int64_t max_bytes) const;
  // The folder of a version, links resolved; empty for a model in memory.
  std::string FolderOf(const VersionFile& version) const;
  bool in_memory() const { return folder.empty(); }
};

inline constexpr char kDefaultModelFile[] = "model.onnx";

// Every model of the repositories, in the Triton layout
// <repository>/<model>/<version>/model.onnx: each visible folder is a model,
// and each folder in it whose name is an integer >= 1 without leading zeros is
// a version. A model's folder may be a link to anywhere; a version's may be one
// that stays inside of the repository or of the model's folder, and is left out
// with a warning where it does not. A repository that cannot be read is an
// error, which names it.
struct RepositoryScan {
  std::map<std::string, ModelSource> models;  // by name
  // Names that two repositories have.
  std::vector<std::string> ambiguous;
  // What is there, but could not be looked at, and why: it may be what it was
  // before. A folder that has gone is in none of the lists.
  std::map<std::string, absl::Status> unreadable;
  // Folders whose names are not UTF-8, as the log shows them: no request could
  // name them, and no reply may.
  std::set<std::string> misnamed;
};
absl::StatusOr<RepositoryScan> ScanRepositories(
    const std::vector<std::string>& repositories);

// The names only: what an index shows. Unreadable repositories are skipped, and
// so are names that are not UTF-8.
std::vector<std::string> ListModelNames(
    const std::vector<std::string>& repositories);

// One model of the repositories. INVALID_ARGUMENT if `name` is not one plain
// path component; NOT_FOUND if there is no such folder; INVALID_ARGUMENT if two
// repositories have it.
absl::StatusOr<ModelSource> FindModel(
    const std::vector<std::string>& repositories, absl::string_view name);

// --model-name with --model-path: a model in a folder of any usual layout, in
// this order: <path>/<name>/<version>/model.onnx, <path>/<version>/model.onnx,
// <path>/model.onnx, the only *.onnx file in <path>, the only folder in <path>
// that has versions, whatever its name; or <path> itself is a file. A file
// without a version is version 1; its name is a plain path component. NOT_FOUND
// says what was looked for.
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
// names, sizes, times and inodes of everything below its folder, and below the
// version folders that its links lead to, five levels deep. Errors as
// ListFolder.
absl::StatusOr<std::string> Fingerprint(const ModelSource& source);

}  // namespace reprise
