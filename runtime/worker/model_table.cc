#include "runtime/worker/model_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"

namespace reprise {
namespace {

constexpr absl::string_view kUnloaded = "unloaded";

std::string Where(absl::string_view name, int64_t version) {
  if (version == 0) return absl::StrCat("model=", LogName(name));
  return absl::StrCat("model=", LogName(name), " version=", version);
}

std::string Description(const ModelVersion& model, absl::string_view prepared) {
  const ModelConfig& config = model.config();
  const Signature& signature = model.signature();
  return absl::StrCat(
      "max_batch_size=", config.proto.max_batch_size(),
      prepared.empty() ? "" : " ", prepared, " instances=", config.instances,
      signature.free_symbols.empty()
          ? ""
          : absl::StrCat(" free_dims=",
                         LogName(absl::StrJoin(signature.free_symbols, ","))));
}

}  // namespace

ModelTable::ModelTable(ModelRegistry& registry, prometheus::Registry& metrics)
    : registry_(registry),
      metrics_(metrics),
      reaper_([this](const ModelVersion& version) { Gone(version); }) {}

absl::Status ModelTable::BeginChange(const std::string& name) {
  absl::MutexLock lock(&mu_);
  const auto free = [this, &name] {
    mu_.AssertReaderHeld();
    return closed_ || !models_[name].changing;
  };
  mu_.Await(absl::Condition(&free));
  if (closed_) return absl::UnavailableError("the server is stopping");
  models_[name].changing = true;
  return absl::OkStatus();
}

void ModelTable::EndChange(const std::string& name) {
  absl::MutexLock lock(&mu_);
  Model& model = models_[name];
  model.changing = false;
  // Nothing is kept of a name that somebody made up.
  if (model.serving.empty() && model.fingerprint.empty() && !model.required) {
    models_.erase(name);
  }
}

void ModelTable::Loading(const std::string& name, int64_t version) {
  {
    absl::MutexLock lock(&mu_);
    if (models_[name].serving.contains(version)) return;
    // Should it still drain from before, its end is no news any more.
    std::erase_if(draining_, [&](const auto& entry) {
      return entry.second == std::make_pair(name, version);
    });
  }
  registry_.SetState(name, version, VersionState::kLoading, "");
  metrics_.RemoveVersion(name, 0);
  metrics_.SetReady(name, version, false);
}

absl::Status ModelTable::Settle(const std::string& name,
                                std::vector<LoadOutcome> outcomes) {
  const std::map<int64_t, uint64_t> before = Serving(name);
  std::vector<std::string> failures;
  absl::Status first;
  for (const LoadOutcome& outcome : outcomes) {
    if (outcome.handle.ok()) continue;
    first.Update(outcome.handle.status());
    failures.push_back(absl::StrCat("version ", outcome.version, ": ",
                                    outcome.handle.status().message()));
  }
  const bool keep_old = !before.empty() && !failures.empty();
  for (LoadOutcome& outcome : outcomes) {
    if (!outcome.handle.ok()) {
      Refuse(name, outcome.version, outcome.handle.status().message());
    } else if (keep_old) {
      Refuse(name, outcome.version,
             absl::StrCat("not published, since another version failed to "
                          "load: ",
                          failures[0]));
    } else {
      metrics_.SetLoadTime(name, outcome.version, outcome.time);
      Publish(name, outcome);
    }
  }
  if (!failures.empty()) {
    return absl::Status(first.code(), absl::StrJoin(failures, "; "));
  }
  for (const auto& [version, uid] : before) {
    const bool asked_for = std::any_of(
        outcomes.begin(), outcomes.end(),
        [&, v = version](const LoadOutcome& o) { return o.version == v; });
    if (!asked_for) WithdrawVersion(name, version, uid);
  }
  absl::MutexLock lock(&mu_);
  models_[name].loaded_once = true;
  return absl::OkStatus();
}

void ModelTable::Publish(const std::string& name, LoadOutcome& outcome) {
  ModelHandle handle = *std::move(outcome.handle);
  bool reloaded = false;
  {
    absl::MutexLock lock(&mu_);
    uint64_t& uid = models_[name].serving[outcome.version];
    reloaded = uid != 0;
    uid = handle->uid();
  }
  LogInfo(absl::StrCat(reloaded ? "model reloaded " : "model ready ",
                       Where(name, outcome.version),
                       " seconds=", absl::ToDoubleSeconds(outcome.time), " ",
                       Description(*handle, outcome.prepared)));
  metrics_.SetReady(name, outcome.version, true);
  registry_.Publish(std::move(handle));
}

void ModelTable::Refuse(const std::string& name, int64_t version,
                        absl::string_view why) {
  bool serving = false;
  {
    absl::MutexLock lock(&mu_);
    serving = models_[name].serving.contains(version);
  }
  LogError(absl::StrCat(serving ? "model not reloaded, the old version serves "
                                : "model failed to load ",
                        Where(name, version), " reason=", LogValue(why)));
  if (serving) return;
  registry_.SetState(name, version, VersionState::kUnavailable, why);
  metrics_.SetReady(name, version, false);
}

void ModelTable::Failed(const std::string& name, const absl::Status& why) {
  const bool serving = !Serving(name).empty();
  LogError(absl::StrCat(serving ? "model not reloaded, the old versions serve "
                                : "model failed to load ",
                        Where(name, 0), " reason=", LogValue(why.message())));
  if (serving) return;
  registry_.Remove(name, 0);
  registry_.SetState(name, 0, VersionState::kUnavailable, why.message());
  metrics_.Remove(name);
  metrics_.SetReady(name, 0, false);
}

void ModelTable::Misnamed(std::set<std::string> folders) {
  for (const std::string& folder : folders) {
    if (misnamed_.contains(folder)) continue;
    LogError(absl::StrCat("model ignored: its folder's name is not UTF-8 path=",
                          LogValue(folder)));
  }
  misnamed_ = std::move(folders);
}

void ModelTable::Withdraw(const std::string& name) {
  if (WithdrawServed(name).empty()) ForgetFailures(name);
}

void ModelTable::WithdrawAndWait(const std::string& name) {
  const std::map<int64_t, uint64_t> served = WithdrawServed(name);
  for (const auto& [unused, uid] : served) reaper_.AwaitGone(uid);
  if (served.empty()) ForgetFailures(name);
}

std::map<int64_t, uint64_t> ModelTable::WithdrawServed(
    const std::string& name) {
  std::map<int64_t, uint64_t> serving = Serving(name);
  {
    absl::MutexLock lock(&mu_);
    models_[name].required = false;
    models_[name].fingerprint.clear();
  }
  for (const auto& [version, uid] : serving) {
    WithdrawVersion(name, version, uid);
  }
  return serving;
}

// Versions that were unloaded before stay in the index; failures do not.
void ModelTable::ForgetFailures(const std::string& name) {
  for (const IndexEntry& entry : registry_.Index()) {
    if (entry.name == name && entry.reason != kUnloaded) {
      registry_.Remove(name, 0);
      metrics_.Remove(name);
      break;
    }
  }
}

void ModelTable::WithdrawVersion(const std::string& name, int64_t version,
                                 uint64_t uid) {
  {
    absl::MutexLock lock(&mu_);
    models_[name].serving.erase(version);
    draining_[uid] = {name, version};
  }
  LogInfo(absl::StrCat("model unloading ", Where(name, version)));
  metrics_.SetReady(name, version, false);
  registry_.SetState(name, version, VersionState::kUnloading, "");
}

void ModelTable::Gone(const ModelVersion& version) {
  {
    absl::MutexLock lock(&mu_);
    // A replaced version leaves in silence: its successor has its place.
    if (draining_.erase(version.uid()) == 0) return;
  }
  LogInfo(absl::StrCat("model unloaded ",
                       Where(version.name(), version.version())));
  registry_.SetState(version.name(), version.version(),
                     VersionState::kUnavailable, kUnloaded);
}

void ModelTable::Require(const std::string& name) {
  {
    absl::MutexLock lock(&mu_);
    models_[name].required = true;
  }
  Expect(name);
}

bool ModelTable::AllRequiredLoaded() const {
  absl::MutexLock lock(&mu_);
  return std::all_of(models_.begin(), models_.end(), [](const auto& entry) {
    return !entry.second.required || entry.second.loaded_once;
  });
}

std::string ModelTable::fingerprint(const std::string& name) const {
  absl::MutexLock lock(&mu_);
  const auto it = models_.find(name);
  return it == models_.end() ? "" : it->second.fingerprint;
}

void ModelTable::SetFingerprint(const std::string& name,
                                std::string fingerprint) {
  absl::MutexLock lock(&mu_);
  models_[name].fingerprint = std::move(fingerprint);
}

std::vector<std::string> ModelTable::Watched() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::string> names;
  for (const auto& [name, model] : models_) {
    if (!model.fingerprint.empty()) names.push_back(name);
  }
  return names;
}

void ModelTable::Close() {
  absl::MutexLock lock(&mu_);
  closed_ = true;
}

bool ModelTable::AwaitIdle(Clock& clock, absl::Time deadline) {
  const auto idle = [this] {
    mu_.AssertReaderHeld();
    return std::none_of(models_.begin(), models_.end(), [](const auto& entry) {
      return entry.second.changing;
    });
  };
  absl::MutexLock lock(&mu_);
  return clock.Await(mu_, absl::Condition(&idle), deadline);
}

void ModelTable::Stop() {
  Close();
  std::vector<std::string> names;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [name, unused] : models_) names.push_back(name);
  }
  for (const std::string& name : names) {
    for (const auto& [version, uid] : Serving(name)) {
      WithdrawVersion(name, version, uid);
    }
  }
  reaper_.Stop();
}

std::map<int64_t, uint64_t> ModelTable::Serving(const std::string& name) const {
  absl::MutexLock lock(&mu_);
  const auto it = models_.find(name);
  return it == models_.end() ? std::map<int64_t, uint64_t>()
                             : it->second.serving;
}

}  // namespace reprise
