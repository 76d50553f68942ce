#include "runtime/model/registry.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/utf8.h"

namespace reprise {
namespace {

absl::Status UnknownModel(absl::string_view name) {
  return absl::NotFoundError(
      absl::StrCat("unknown model '", name, "': the server does not have it"));
}

absl::Status NotReady(absl::string_view name, int64_t version,
                      VersionState state, absl::string_view reason) {
  return absl::UnavailableError(absl::StrCat(
      "version ", version, " of model '", name, "' is not at ready state: ",
      StateName(state), reason.empty() ? "" : ", ", reason));
}

absl::Status NoneReady(absl::string_view name, bool loading) {
  return absl::NotFoundError(
      absl::StrCat("model '", name, "' has no available versions",
                   loading ? " yet: it is loading" : ""));
}

// Nothing for "".
absl::StatusOr<std::optional<int64_t>> ParseVersion(absl::string_view text) {
  if (text.empty()) return std::optional<int64_t>();
  int64_t version = 0;
  const bool digits = std::all_of(text.begin(), text.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || text[0] == '0' || !absl::SimpleAtoi(text, &version)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model version '", text,
        "' is invalid: it must be an integer > 0, or empty for the latest"));
  }
  return std::optional<int64_t>(version);
}

}  // namespace

bool ModelRegistry::IsLoading(const Versions& versions) {
  return std::any_of(versions.begin(), versions.end(), [](const auto& entry) {
    return entry.second.state == VersionState::kLoading;
  });
}

absl::StatusOr<ModelHandle> ModelRegistry::Acquire(
    absl::string_view name, absl::string_view version) const {
  const auto wanted = ParseVersion(version);
  absl::MutexLock lock(&mu_);
  const auto model = models_.find(name);
  if (model == models_.end()) return UnknownModel(name);
  if (!wanted.ok()) {
    return Annotate(wanted.status(), absl::StrCat("model '", name, "'"));
  }
  const Versions& versions = model->second;
  if (!wanted->has_value()) {
    for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
      if (it->second.handle != nullptr) return it->second.handle;
    }
    return NoneReady(name, IsLoading(versions));
  }
  const auto it = versions.find(**wanted);
  if (it == versions.end() || **wanted == 0) {
    // Which versions it has is not known yet.
    if (const auto whole = versions.find(0);
        whole != versions.end() &&
        whole->second.state == VersionState::kLoading) {
      return NotReady(name, **wanted, VersionState::kLoading, "");
    }
    return absl::NotFoundError(absl::StrCat("version ", version, " of model '",
                                            name, "' is not found"));
  }
  if (it->second.handle == nullptr) {
    return NotReady(name, **wanted, it->second.state, it->second.reason);
  }
  return it->second.handle;
}

absl::StatusOr<std::vector<ModelHandle>> ModelRegistry::List(
    absl::string_view name, absl::string_view version) const {
  std::vector<ModelHandle> handles;
  bool loading = false;  // the model `name`
  if (!name.empty() && !version.empty()) {
    auto handle = Acquire(name, version);
    if (!handle.ok()) return handle.status();
    handles.push_back(*std::move(handle));
    return handles;
  }
  {
    absl::MutexLock lock(&mu_);
    if (!name.empty() && !models_.contains(name)) return UnknownModel(name);
    for (const auto& [model, versions] : models_) {
      if (!name.empty() && model != name) continue;
      loading = IsLoading(versions);
      for (const auto& [unused, entry] : versions) {
        if (entry.handle != nullptr) handles.push_back(entry.handle);
      }
    }
  }
  if (!name.empty() && handles.empty()) return NoneReady(name, loading);
  std::sort(handles.begin(), handles.end(),
            [](const ModelHandle& a, const ModelHandle& b) {
              return std::make_pair(a->name(), a->version()) <
                     std::make_pair(b->name(), b->version());
            });
  return handles;
}

std::vector<IndexEntry> ModelRegistry::Index() const {
  std::vector<IndexEntry> index;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [name, versions] : models_) {
      for (const auto& [version, entry] : versions) {
        index.push_back({name, version == 0 ? "" : std::to_string(version),
                         entry.state, entry.reason});
      }
    }
  }
  // The map has no order; versions stand in theirs already.
  std::stable_sort(
      index.begin(), index.end(),
      [](const IndexEntry& a, const IndexEntry& b) { return a.name < b.name; });
  return index;
}

void ModelRegistry::Expect(absl::string_view name) {
  {
    absl::MutexLock lock(&mu_);
    Versions& versions = models_[std::string(name)];
    if (!versions.empty() && versions.rbegin()->first != 0) return;
    versions[0] = {.state = VersionState::kLoading, .reason = {}, .handle = {}};
  }
  Notify();
}

void ModelRegistry::Publish(ModelHandle handle) {
  ModelHandle replaced;  // dropped without the lock
  {
    absl::MutexLock lock(&mu_);
    Versions& versions = models_[handle->name()];
    versions.erase(0);
    Version& entry = versions[handle->version()];
    replaced = std::move(entry.handle);
    entry.state = VersionState::kReady;
    entry.reason.clear();
    entry.handle = std::move(handle);
  }
  replaced.reset();
  Notify();
}

void ModelRegistry::SetState(absl::string_view name, int64_t version,
                             VersionState state, absl::string_view reason) {
  ModelHandle withdrawn;  // dropped without the lock
  VersionState from = state;
  {
    absl::MutexLock lock(&mu_);
    Versions& versions = models_[std::string(name)];
    if (version != 0) versions.erase(0);
    Version& entry = versions[version];
    from = entry.state;
    if (state != VersionState::kReady) withdrawn = std::move(entry.handle);
    entry.state = state;
    entry.reason = ToUtf8(reason);
  }
  withdrawn.reset();
  if (from != state && !CanMove(from, state)) {
    LogError(absl::StrCat("a model moved from ", StateName(from), " to ",
                          StateName(state), " model=", LogName(name),
                          " version=", version));
  }
  Notify();
}

void ModelRegistry::Remove(absl::string_view name, int64_t version) {
  Versions removed;  // dropped without the lock
  {
    absl::MutexLock lock(&mu_);
    const auto model = models_.find(name);
    if (model == models_.end()) return;
    if (version == 0) {
      removed = std::move(model->second);
    } else if (const auto it = model->second.find(version);
               it != model->second.end()) {
      removed.insert(model->second.extract(it));
    }
    if (version == 0 || model->second.empty()) models_.erase(model);
  }
  removed.clear();
  Notify();
}

ModelRegistry::Subscription ModelRegistry::AddListener(
    std::function<void()> listener) {
  absl::MutexLock lock(&mu_);
  listeners_.push_back({.call = std::move(listener)});
  return {*this, std::prev(listeners_.end())};
}

void ModelRegistry::Unsubscribe(Listeners::iterator listener) {
  Listeners removed;  // dropped without the lock
  absl::MutexLock lock(&mu_);
  removed.splice(removed.end(), listeners_, listener);
  const auto idle = [&] { return listener->running == 0; };
  mu_.Await(absl::Condition(&idle));
}

void ModelRegistry::Notify() {
  std::vector<Listener*> called;
  {
    absl::MutexLock lock(&mu_);
    for (Listener& listener : listeners_) {
      ++listener.running;
      called.push_back(&listener);
    }
  }
  for (Listener* listener : called) {
    listener->call();
    absl::MutexLock lock(&mu_);
    --listener->running;
  }
}

}  // namespace reprise
