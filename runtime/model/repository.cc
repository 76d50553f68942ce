#include "runtime/model/repository.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/utf8.h"
#include "runtime/model/contained_file.h"

namespace reprise {
namespace {

constexpr int kFingerprintDepth = 5;

// "3", not "03", "0", "+3" or "3a".
bool ParseVersionName(absl::string_view name, int64_t& version) {
  const bool digits = std::all_of(name.begin(), name.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  return !name.empty() && digits && name[0] != '0' &&
         absl::SimpleAtoi(name, &version);
}

// A version folder that is a link: ConfigMaps and git-sync make them. What it
// leads to must not leave `repository`, nor the model's own folder.
absl::Status AddLinkedVersion(const std::string& repository, int64_t version,
                              const std::string& name, ModelSource& source) {
  const auto target = ResolveFolder(absl::StrCat(source.folder, "/", name));
  if (absl::IsNotFound(target.status())) return absl::OkStatus();
  REPRISE_RETURN_IF_ERROR(target.status());
  REPRISE_ASSIGN_OR_RETURN(const std::string root, ResolveFolder(repository));
  if (IsWithin(*target, root) || IsWithin(*target, source.folder)) {
    source.versions[version] = {name, "", *target};
  } else {
    source.warnings.push_back(
        absl::StrCat("version folder ignored: ", name, " is a link to ",
                     *target, ", outside of the model repository"));
  }
  return absl::OkStatus();
}

// The model whose folder is `path`; the folder itself may be a link.
absl::StatusOr<ModelSource> OpenModel(const std::string& repository,
                                      const std::string& path,
                                      absl::string_view name) {
  ModelSource source;
  source.name = std::string(name);
  REPRISE_ASSIGN_OR_RETURN(source.folder, ResolveFolder(path));
  REPRISE_ASSIGN_OR_RETURN(const auto entries, ListFolder(source.folder));
  for (const FolderEntry& entry : entries) {
    int64_t version = 0;
    if (!ParseVersionName(entry.name, version)) continue;
    REPRISE_RETURN_IF_ERROR(entry.status);
    if (!entry.is_folder) continue;
    if (entry.is_link) {
      REPRISE_RETURN_IF_ERROR(
          AddLinkedVersion(repository, version, entry.name, source));
    } else {
      source.versions[version] = {entry.name, ""};
    }
  }
  return source;
}

absl::StatusOr<ModelSource> OpenEntry(const std::string& repository,
                                      const FolderEntry& entry) {
  REPRISE_RETURN_IF_ERROR(entry.status);
  return OpenModel(repository, absl::StrCat(repository, "/", entry.name),
                   entry.name);
}

absl::Status AddFingerprint(const std::string& folder,
                            const std::string& relative, int depth,
                            std::string& text) {
  REPRISE_ASSIGN_OR_RETURN(const auto entries, ListFolder(folder));
  for (const FolderEntry& entry : entries) {
    const std::string path = absl::StrCat(relative, entry.name);
    if (!entry.status.ok()) {
      absl::StrAppend(&text, path, " ", entry.status.message(), "\n");
    } else if (entry.is_folder && !entry.is_link) {
      absl::StrAppend(&text, path, "/\n");
      if (depth < kFingerprintDepth) {
        REPRISE_RETURN_IF_ERROR(
            AddFingerprint(absl::StrCat(folder, "/", entry.name),
                           absl::StrCat(path, "/"), depth + 1, text));
      }
    } else {
      absl::StrAppend(&text, path, " ", entry.bytes, " ", entry.modified, " ",
                      entry.inode, "\n");
    }
  }
  return absl::OkStatus();
}

// <path>/model.onnx, or the only *.onnx file there.
absl::StatusOr<std::string> OnnxFileIn(const std::vector<FolderEntry>& entries,
                                       const std::string& path) {
  std::vector<std::string> found;
  for (const FolderEntry& entry : entries) {
    if (entry.is_folder || !absl::EndsWith(entry.name, ".onnx")) continue;
    if (entry.name == kDefaultModelFile) return entry.name;
    found.push_back(entry.name);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "no model in ", path,
        ": neither <name>/<version>/model.onnx, <version>/model.onnx, "
        "model.onnx nor one *.onnx file"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, " has ", found.size(),
                   " *.onnx files, and none is named model.onnx"));
}

// <path>/<any name>/<version>/model.onnx, if there is one model of the kind;
// NOT_FOUND if there is none.
absl::StatusOr<ModelSource> OnlyModelIn(const std::vector<FolderEntry>& entries,
                                        const std::string& path,
                                        const std::string& name) {
  std::vector<std::string> folders;
  ModelSource only;
  for (const FolderEntry& entry : entries) {
    if (!entry.is_folder) continue;
    auto source = OpenModel(path, absl::StrCat(path, "/", entry.name), name);
    if (!source.ok() || source->versions.empty()) continue;
    folders.push_back(entry.name);
    only = *std::move(source);
  }
  if (folders.size() == 1) return only;
  if (folders.empty()) return absl::NotFoundError("no folder with versions");
  return absl::InvalidArgumentError(absl::StrCat(
      path, " has ", folders.size(), " models (", absl::StrJoin(folders, ", "),
      "), and none is named '", name, "'"));
}

absl::StatusOr<ModelSource> FindInFolder(const std::string& path,
                                         const std::string& name) {
  auto nested = OpenModel(path, absl::StrCat(path, "/", name), name);
  if (nested.ok() && !nested->versions.empty()) return nested;
  REPRISE_ASSIGN_OR_RETURN(ModelSource source, OpenModel(path, path, name));
  if (!source.versions.empty()) return source;
  REPRISE_ASSIGN_OR_RETURN(const auto entries, ListFolder(source.folder));
  const auto file = OnnxFileIn(entries, path);
  if (absl::IsNotFound(file.status())) {
    auto only = OnlyModelIn(entries, path, name);
    if (!absl::IsNotFound(only.status())) return only;
  }
  if (!file.ok()) return file.status();
  source.versions[1] = {"", *file};
  return source;
}

absl::StatusOr<ModelSource> FileAsModel(const std::string& path,
                                        const std::string& name) {
  const size_t slash = path.rfind('/');
  const bool bare = slash == std::string::npos;
  ModelSource source;
  source.name = name;
  REPRISE_ASSIGN_OR_RETURN(
      source.folder, ResolveFolder(bare ? "." : path.substr(0, slash + 1)));
  source.versions[1] = {"", bare ? path : path.substr(slash + 1)};
  return source;
}

}  // namespace

absl::StatusOr<std::string> ModelSource::Read(absl::string_view relative,
                                              int64_t max_bytes) const {
  if (!in_memory()) return ReadContainedFile(folder, relative, max_bytes);
  const auto it = files.find(std::string(relative));
  if (it == files.end()) {
    return absl::NotFoundError(
        absl::StrCat(relative, " is not among the files of the request"));
  }
  if (it->second.size() > static_cast<size_t>(max_bytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(relative, " has ", it->second.size(), " bytes; at most ",
                     max_bytes, " are read"));
  }
  return it->second;
}

absl::StatusOr<std::string> ModelSource::ReadOf(const VersionFile& version,
                                                absl::string_view relative,
                                                int64_t max_bytes) const {
  if (!version.target.empty()) {
    return ReadContainedFile(version.target, relative, max_bytes);
  }
  if (version.folder.empty()) return Read(relative, max_bytes);
  return Read(absl::StrCat(version.folder, "/", relative), max_bytes);
}

std::string ModelSource::FolderOf(const VersionFile& version) const {
  if (!version.target.empty()) return version.target;
  if (in_memory() || version.folder.empty()) return folder;
  return absl::StrCat(folder, "/", version.folder);
}

absl::StatusOr<RepositoryScan> ScanRepositories(
    const std::vector<std::string>& repositories) {
  RepositoryScan scan;
  std::set<std::string> names;
  std::set<std::string> ambiguous;
  for (const std::string& repository : repositories) {
    auto entries = ListFolder(repository);
    if (!entries.ok()) {
      return Annotate(entries.status(), "model repository");
    }
    for (const FolderEntry& entry : *entries) {
      if (entry.status.ok() && !entry.is_folder) continue;
      if (!IsUtf8(entry.name)) {
        scan.misnamed.insert(absl::StrCat(repository, "/", ToUtf8(entry.name)));
        continue;
      }
      auto source = OpenEntry(repository, entry);
      if (absl::IsNotFound(source.status())) continue;  // removed meanwhile
      if (!names.insert(entry.name).second) {
        ambiguous.insert(entry.name);
      } else if (source.ok()) {
        scan.models.emplace(entry.name, *std::move(source));
      } else {
        scan.unreadable.emplace(entry.name, source.status());
      }
    }
  }
  for (const std::string& name : ambiguous) {
    scan.models.erase(name);
    scan.unreadable.erase(name);
  }
  scan.ambiguous.assign(ambiguous.begin(), ambiguous.end());
  return scan;
}

std::vector<std::string> ListModelNames(
    const std::vector<std::string>& repositories) {
  std::set<std::string> names;
  for (const std::string& repository : repositories) {
    const auto entries = ListFolder(repository);
    if (!entries.ok()) continue;
    for (const FolderEntry& entry : *entries) {
      if (!IsUtf8(entry.name)) continue;
      if (entry.is_folder || !entry.status.ok()) names.insert(entry.name);
    }
  }
  return {names.begin(), names.end()};
}

absl::StatusOr<ModelSource> FindModel(
    const std::vector<std::string>& repositories, absl::string_view name) {
  REPRISE_RETURN_IF_ERROR(CheckPathComponent(name));
  absl::StatusOr<ModelSource> found = absl::NotFoundError(
      absl::StrCat("no folder '", name, "' in the model repository"));
  for (const std::string& repository : repositories) {
    auto source =
        OpenModel(repository, absl::StrCat(repository, "/", name), name);
    if (absl::IsNotFound(source.status())) continue;
    if (found.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "model '", name, "' stands in more than one model repository"));
    }
    found = std::move(source);
    if (!found.ok()) return found;
  }
  return found;
}

absl::StatusOr<ModelSource> FindSingleModel(const std::string& path,
                                            const std::string& name) {
  REPRISE_RETURN_IF_ERROR(CheckPathComponent(name));
  const auto root = ResolveFolder(path);
  absl::StatusOr<ModelSource> source;
  if (absl::IsInvalidArgument(root.status())) {  // a file
    source = FileAsModel(path, name);
  } else if (root.ok()) {
    source = FindInFolder(*root, name);
  } else {
    source = Annotate(root.status(), "model path");
  }
  REPRISE_RETURN_IF_ERROR(source.status());
  for (const auto& [unused, version] : source->versions) {
    if (version.file.empty()) continue;
    if (absl::Status named = CheckPathComponent(version.file); !named.ok()) {
      return Annotate(named, "the file of --model-path");
    }
  }
  source->any_name = true;
  return source;
}

absl::StatusOr<ModelSource> SourceFromFiles(
    absl::string_view name, std::map<std::string, std::string> files) {
  REPRISE_RETURN_IF_ERROR(CheckPathComponent(name));
  ModelSource source;
  source.name = std::string(name);
  for (const auto& [path, unused] : files) {
    REPRISE_RETURN_IF_ERROR(CheckRelativePath(path));
    const std::pair<std::string, std::string> halves =
        absl::StrSplit(path, absl::MaxSplits('/', 1));
    int64_t version = 0;
    if (halves.second.empty() || !ParseVersionName(halves.first, version)) {
      return absl::InvalidArgumentError(
          absl::StrCat("file '", path,
                       "' is not named <version>/<path>, with a version "
                       "that is an integer >= 1"));
    }
    source.versions[version] = {halves.first, ""};
  }
  source.files = std::move(files);
  return source;
}

absl::StatusOr<std::vector<int64_t>> SelectVersions(
    const ModelSource& source, const inference::ModelVersionPolicy& policy) {
  std::vector<int64_t> all;
  for (const auto& [version, unused] : source.versions) all.push_back(version);
  std::vector<int64_t> selected;
  if (policy.has_specific()) {
    const std::set<int64_t> wanted(policy.specific().versions().begin(),
                                   policy.specific().versions().end());
    for (const int64_t version : all) {
      if (wanted.contains(version)) selected.push_back(version);
    }
  } else if (policy.has_all()) {
    selected = all;
  } else {
    const size_t count = std::max(1U, policy.latest().num_versions());
    const size_t first = all.size() > count ? all.size() - count : 0;
    selected.assign(all.begin() + static_cast<int64_t>(first), all.end());
  }
  if (selected.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "no version of model '", source.name, "' is available: ",
        all.empty() ? "its folder has no version folder (an integer >= 1)"
                    : "none that the version policy asks for"));
  }
  return selected;
}

absl::StatusOr<std::string> Fingerprint(const ModelSource& source) {
  std::string text;
  if (!source.in_memory()) {
    REPRISE_RETURN_IF_ERROR(AddFingerprint(source.folder, "", 1, text));
  }
  for (const auto& [unused, version] : source.versions) {
    if (version.target.empty()) continue;
    absl::StrAppend(&text, version.folder, " -> ", version.target, "\n");
    REPRISE_RETURN_IF_ERROR(AddFingerprint(
        version.target, absl::StrCat(version.folder, "/"), 2, text));
  }
  return text;
}

}  // namespace reprise
