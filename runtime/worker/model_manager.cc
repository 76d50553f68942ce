#include "runtime/worker/model_manager.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/thread.h"
#include "runtime/model/contained_file.h"
#include "runtime/model/loader.h"
#include "runtime/model/repository.h"
#include "runtime/worker/load_pipeline.h"
#include "runtime/worker/manager_options.h"
#include "runtime/worker/model_table.h"
#include "runtime/worker/router.h"

namespace reprise {
namespace {

bool AreGpus(const std::vector<DeviceWorker*>& workers) {
  return std::any_of(workers.begin(), workers.end(), [](DeviceWorker* worker) {
    return worker->device().gpu_index().has_value();
  });
}

class Manager final : public ModelManager {
 public:
  Manager(ModelManagerOptions options, std::vector<DeviceWorker*> workers,
          ModelRegistry& registry, Clock& clock, prometheus::Registry& metrics)
      : options_(std::move(options)),
        workers_(std::move(workers)),
        loader_options_(MakeLoaderOptions(options_, AreGpus(workers_))),
        registry_(registry),
        clock_(clock),
        table_(registry, metrics),
        free_loads_(options_.load_threads) {}
  ~Manager() override {
    EndPolling();
    table_.Stop();
  }

  absl::Status LoadAtStart() override ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Load(absl::string_view name,
                    const LoadOverrides& overrides) override;
  absl::Status Unload(absl::string_view name) override;
  bool Ready() const override ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<IndexEntry> Index() const override;
  absl::Status Offer(const ModelVersion& model, InferTask& task) override
      ABSL_LOCKS_EXCLUDED(mu_);
  void Cancel(const ModelVersion& model, InferTask& task) override;
  StopResult Stop(absl::Time deadline) override;

 private:
  // A model to load, and what is to be done with it.
  struct Job {
    std::string name;
    absl::StatusOr<ModelSource> source;
    std::optional<std::string> config_json;
  };

  absl::Status CheckExplicit(absl::string_view name) const;
  absl::StatusOr<ModelSource> Find(const std::string& name) const;
  std::vector<Job> JobsAtStart(std::vector<std::string>& failures);
  std::vector<std::string> RunJobs(const std::vector<Job>& jobs);

  absl::Status LoadJob(const Job& job) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status LoadInTurn(const Job& job);
  LoadOutcome LoadVersion(const ModelSource& source, int64_t version,
                          const ModelDefinition& definition);
  absl::StatusOr<LoadedVersion> ServeOne(const ModelSource& source,
                                         int64_t version,
                                         const ModelDefinition& definition);

  void Poll() ABSL_LOCKS_EXCLUDED(mu_);
  void PollOnce();
  void NoteUnreadable(std::map<std::string, absl::Status> unreadable);
  void EndPolling() ABSL_LOCKS_EXCLUDED(mu_);

  bool FreeLoad() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return free_loads_ > 0;
  }

  // Constant after construction.
  const ModelManagerOptions options_;
  const std::vector<DeviceWorker*> workers_;
  const LoaderOptions loader_options_;

  // Synchronised by themselves.
  ModelRegistry& registry_;
  Clock& clock_;
  ModelTable table_;
  std::atomic<uint64_t> next_uid_{1};
  std::atomic<int> last_choice_{-1};

  // Models that could not be looked at, and why. LoadAtStart's, then the poll
  // thread's.
  std::map<std::string, absl::Status> unreadable_;

  mutable absl::Mutex mu_;
  bool started_ ABSL_GUARDED_BY(mu_) = false;  // LoadAtStart has returned
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  int free_loads_ ABSL_GUARDED_BY(mu_);

  Thread poll_thread_ ABSL_GUARDED_BY(mu_);
};

absl::Status Manager::CheckExplicit(absl::string_view name) const {
  if (options_.mode != ControlMode::kExplicit) {
    return absl::UnavailableError(
        "explicit model load and unload are not allowed: the server does not "
        "run with --model-control-mode=explicit");
  }
  return CheckPathComponent(name);
}

absl::StatusOr<ModelSource> Manager::Find(const std::string& name) const {
  if (options_.model_path.empty()) {
    return FindModel(options_.repositories, name);
  }
  if (name == options_.model_name) {
    return FindSingleModel(options_.model_path, name);
  }
  return absl::NotFoundError(absl::StrCat("the server has one model only, '",
                                          options_.model_name, "'"));
}

// What is found now is required from now on, whether or not it loads.
std::vector<Manager::Job> Manager::JobsAtStart(
    std::vector<std::string>& failures) {
  std::vector<Job> jobs;
  std::set<std::string> names(options_.load_models.begin(),
                              options_.load_models.end());
  if (options_.mode != ControlMode::kExplicit || names.erase("*") > 0) {
    auto scan = ScanModels(options_);
    if (!scan.ok() && !options_.model_name.empty()) {
      names.insert(options_.model_name);  // known even if its files are not
    } else if (!scan.ok()) {
      LogError(absl::StrCat("model repository not read reason=",
                            LogValue(scan.status().message())));
      failures.emplace_back(scan.status().message());
    } else {
      table_.Misnamed(std::move(scan->misnamed));
      for (auto& [name, source] : scan->models) {
        names.erase(name);
        jobs.push_back({name, std::move(source), std::nullopt});
      }
      names.insert(scan->ambiguous.begin(), scan->ambiguous.end());
      for (const auto& [name, status] : scan->unreadable) {
        names.erase(name);
        jobs.push_back({name, status, std::nullopt});
      }
      unreadable_ = std::move(scan->unreadable);
    }
  }
  for (const std::string& name : names) {
    jobs.push_back({name, Find(name), std::nullopt});
  }
  for (const Job& job : jobs) table_.Require(job.name);
  return jobs;
}

std::vector<std::string> Manager::RunJobs(const std::vector<Job>& jobs) {
  absl::Mutex mu;
  std::vector<std::string> failures;
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      LogInfo(absl::StrCat("model loading model=", LogName(jobs[i].name),
                           " number=", i + 1, " of=", jobs.size()));
      const absl::Status status = LoadJob(jobs[i]);
      if (status.ok()) continue;
      absl::MutexLock lock(&mu);
      failures.push_back(
          absl::StrCat("model '", jobs[i].name, "': ", status.message()));
    }
  };
  {
    std::vector<Thread> helpers;
    const size_t wanted =
        std::min(jobs.size(), static_cast<size_t>(options_.load_threads));
    for (size_t i = 1; i < wanted; ++i) helpers.emplace_back("model-load", run);
    run();
  }  // the helpers are joined
  std::sort(failures.begin(), failures.end());
  return failures;
}

absl::Status Manager::LoadAtStart() {
  const absl::Time begin = clock_.Now();
  std::vector<std::string> failures;
  const std::vector<Job> jobs = JobsAtStart(failures);
  const bool scanned = failures.empty();
  const std::vector<std::string> failed = RunJobs(jobs);
  failures.insert(failures.end(), failed.begin(), failed.end());
  LogInfo(absl::StrCat("models loaded ready=", jobs.size() - failed.size(),
                       " failed=", failed.size(), " seconds=",
                       absl::ToDoubleSeconds(clock_.Now() - begin)));
  {
    absl::MutexLock lock(&mu_);
    // A repository that cannot be read may hold anything: not ready.
    started_ = scanned;
    if (!stopping_ && options_.mode == ControlMode::kPoll) {
      poll_thread_ = Thread("model-poll", [this] { Poll(); });
    }
  }
  if (failures.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrJoin(failures, "\n"));
}

absl::Status Manager::Load(absl::string_view name,
                           const LoadOverrides& overrides) {
  REPRISE_RETURN_IF_ERROR(CheckExplicit(name));
  const std::string failed = absl::StrCat("failed to load '", name, "'");
  Job job{std::string(name), absl::UnknownError(""), overrides.config_json};
  if (overrides.files.empty()) {
    job.source = Find(job.name);
    if (absl::IsNotFound(job.source.status())) {  // no model to keep state of
      return absl::InternalError(
          absl::StrCat(failed, ": ", job.source.status().message()));
    }
  } else if (!overrides.config_json.has_value()) {
    return absl::InternalError(absl::StrCat(
        failed, ": files are given without the `config` that goes with them"));
  } else {
    job.source = SourceFromFiles(name, overrides.files);
    if (!job.source.ok()) return Annotate(job.source.status(), failed);
  }
  absl::Status status = LoadJob(job);
  if (status.ok() || absl::IsUnavailable(status)) return status;
  if (absl::IsResourceExhausted(status)) return Annotate(status, failed);
  return absl::InternalError(absl::StrCat(failed, ": ", status.message()));
}

absl::Status Manager::LoadJob(const Job& job) {
  REPRISE_RETURN_IF_ERROR(table_.BeginChange(job.name));
  table_.Expect(job.name);
  {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(this, &Manager::FreeLoad));
    --free_loads_;
  }
  absl::Status status = LoadInTurn(job);
  {
    absl::MutexLock lock(&mu_);
    ++free_loads_;
  }
  table_.EndChange(job.name);
  return status;
}

absl::Status Manager::LoadInTurn(const Job& job) {
  const auto failed = [&](const absl::Status& status) {
    table_.Failed(job.name, status);
    return status;
  };
  const bool watched = options_.mode == ControlMode::kPoll;
  auto before = job.source.ok()
                    ? Fingerprint(*job.source)
                    : absl::StatusOr<std::string>(job.source.status());
  if (watched) {
    // Unlike anything that a model's files could give: they are looked at again
    // until they can be read.
    table_.SetFingerprint(job.name,
                          before.ok() ? *before : before.status().ToString());
  }
  if (!before.ok()) return failed(before.status());
  const ModelSource& source = *job.source;
  const auto definition =
      ReadDefinition(source, job.config_json, loader_options_);
  if (!definition.ok()) return failed(definition.status());
  for (const std::string& warning : definition->warnings) {
    LogWarning(absl::StrCat(warning, " model=", LogName(job.name)));
  }
  const auto versions =
      SelectVersions(source, definition->config.proto.version_policy());
  if (!versions.ok()) return failed(versions.status());
  for (const int64_t version : *versions) table_.Loading(job.name, version);
  std::vector<LoadOutcome> outcomes;
  for (const int64_t version : *versions) {
    outcomes.push_back(LoadVersion(source, version, *definition));
  }
  if (const auto after = Fingerprint(source);
      watched && (!after.ok() || *after != *before)) {
    for (LoadOutcome& outcome : outcomes) {  // half of it may be of each kind
      outcome.handle = absl::AbortedError("its files changed while it loaded");
    }
  }
  return table_.Settle(job.name, std::move(outcomes));
}

LoadOutcome Manager::LoadVersion(const ModelSource& source, int64_t version,
                                 const ModelDefinition& definition) {
  LoadOutcome outcome;
  outcome.version = version;
  const absl::Time begin = clock_.Now();
  auto loaded = ServeOne(source, version, definition);
  outcome.time = clock_.Now() - begin;
  if (loaded.ok()) {
    outcome.handle = std::move(loaded->handle);
    outcome.prepared = std::move(loaded->prepared);
  } else {
    outcome.handle = loaded.status();
  }
  return outcome;
}

absl::StatusOr<LoadedVersion> Manager::ServeOne(
    const ModelSource& source, int64_t version,
    const ModelDefinition& definition) {
  REPRISE_ASSIGN_OR_RETURN(
      ImportedVersion imported,
      ImportVersion(source, version, definition, loader_options_,
                    workers_.front()->device().memory()));
  for (const std::string& note : imported.notes) {
    LogInfo(absl::StrCat(note, " model=", LogName(imported.text())));
  }
  for (const std::string& warning : imported.warnings) {
    LogWarning(absl::StrCat(warning, " model=", LogName(imported.text())));
  }
  return ServeVersion(std::move(imported), next_uid_++, workers_,
                      table_.reaper(), clock_);
}

absl::Status Manager::Unload(absl::string_view name) {
  REPRISE_RETURN_IF_ERROR(CheckExplicit(name));
  const std::string key(name);
  REPRISE_RETURN_IF_ERROR(table_.BeginChange(key));
  table_.WithdrawAndWait(key);
  table_.EndChange(key);
  return absl::OkStatus();
}

bool Manager::Ready() const {
  const auto unwell = [](DeviceWorker* w) { return !w->load().well(); };
  if (std::any_of(workers_.begin(), workers_.end(), unwell)) return false;
  if (!options_.strict_readiness) return true;
  {
    absl::MutexLock lock(&mu_);
    if (!started_) return false;
  }
  return table_.AllRequiredLoaded();
}

std::vector<IndexEntry> Manager::Index() const {
  std::vector<IndexEntry> index = registry_.Index();
  if (options_.mode != ControlMode::kExplicit) return index;
  std::set<std::string> known;
  for (const IndexEntry& entry : index) known.insert(entry.name);
  std::vector<std::string> names = ListModelNames(options_.repositories);
  if (!options_.model_name.empty()) names.push_back(options_.model_name);
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    index.push_back({name, "", VersionState::kUnknown, ""});
  }
  std::stable_sort(
      index.begin(), index.end(),
      [](const IndexEntry& a, const IndexEntry& b) { return a.name < b.name; });
  return index;
}

absl::Status Manager::Offer(const ModelVersion& model, InferTask& task) {
  if (workers_.size() == 1) return workers_.front()->Offer(model.uid(), task);
  absl::InlinedVector<WorkerLoad, 8> loads;
  absl::InlinedVector<int, 8> routes;
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (!IsPlacedOn(model.config(), *workers_[i])) continue;
    loads.push_back(workers_[i]->load());
    routes.push_back(static_cast<int>(i));
  }
  const int chosen = ChooseWorker(loads, last_choice_.load());
  if (chosen < 0) return absl::UnavailableError("no worker serves the model");
  last_choice_ = chosen;
  task.route = routes[static_cast<size_t>(chosen)];
  return workers_[static_cast<size_t>(task.route)]->Offer(model.uid(), task);
}

void Manager::Cancel(const ModelVersion& model, InferTask& task) {
  workers_[static_cast<size_t>(task.route)]->Cancel(model.uid(), task);
}

StopResult Manager::Stop(absl::Time deadline) {
  table_.Close();
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  StopResult result;
  for (DeviceWorker* worker : workers_) {
    result.all_answered = worker->Stop(deadline) && result.all_answered;
  }
  result.loads_ended = table_.AwaitIdle(clock_, deadline);
  return result;
}

void Manager::Poll() {
  absl::Time next = clock_.Now() + options_.poll_interval;
  while (true) {
    {
      absl::MutexLock lock(&mu_);
      if (clock_.Await(mu_, absl::Condition(&stopping_), next)) return;
    }
    PollOnce();
    next = clock_.Now() + options_.poll_interval;
  }
}

void Manager::PollOnce() {
  auto scan = ScanModels(options_);
  if (!scan.ok()) {
    LogWarning(absl::StrCat("model repository not polled reason=",
                            LogValue(scan.status().message())));
    return;
  }
  {
    absl::MutexLock lock(&mu_);
    started_ = true;
  }
  table_.Misnamed(std::move(scan->misnamed));
  std::map<std::string, absl::Status> unreadable = std::move(scan->unreadable);
  std::vector<Job> changed;
  for (auto& [name, source] : scan->models) {
    const auto fingerprint = Fingerprint(source);
    if (!fingerprint.ok()) {
      unreadable.emplace(name, fingerprint.status());
    } else if (*fingerprint != table_.fingerprint(name)) {
      changed.push_back({name, std::move(source), std::nullopt});
      table_.Expect(name);
    }
  }
  for (const Job& job : changed) {
    LogInfo(absl::StrCat("model changed model=", LogName(job.name)));
    LoadJob(job).IgnoreError();  // logged
  }
  NoteUnreadable(std::move(unreadable));
  for (const std::string& name : table_.Watched()) {
    const bool there = scan->models.contains(name) ||
                       unreadable_.contains(name) ||
                       std::find(scan->ambiguous.begin(), scan->ambiguous.end(),
                                 name) != scan->ambiguous.end();
    // A second look: a listing may miss what is replaced while it is made.
    if (there || !absl::IsNotFound(Find(name).status())) continue;
    if (!table_.BeginChange(name).ok()) continue;
    LogInfo(absl::StrCat("model removed from the repository model=",
                         LogName(name)));
    table_.Withdraw(name);
    table_.EndChange(name);
  }
}

// What is served of such a model goes on being served; one that is new is
// known from now on, with the reason why it is not served. Each reason is
// logged once.
void Manager::NoteUnreadable(std::map<std::string, absl::Status> unreadable) {
  for (const auto& [name, status] : unreadable) {
    const auto it = unreadable_.find(name);
    if (it != unreadable_.end() && it->second == status) continue;
    if (table_.fingerprint(name).empty()) {
      LoadJob({name, status, std::nullopt}).IgnoreError();  // logged
    } else {
      LogWarning(absl::StrCat(
          "model cannot be read, and stays as it is model=", LogName(name),
          " reason=", LogValue(status.message())));
    }
  }
  unreadable_ = std::move(unreadable);
}

void Manager::EndPolling() {
  Thread poll_thread;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    poll_thread = std::move(poll_thread_);
  }
  poll_thread.Join();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelManager>> ModelManager::Create(
    ModelManagerOptions options, std::vector<DeviceWorker*> workers,
    ModelRegistry& registry, Clock& clock, prometheus::Registry& metrics) {
  REPRISE_RETURN_IF_ERROR(CheckManagerOptions(options));
  if (workers.empty()) {
    return absl::InvalidArgumentError("a model manager needs a worker");
  }
  std::sort(options.load_models.begin(), options.load_models.end());
  return std::make_unique<Manager>(std::move(options), std::move(workers),
                                   registry, clock, metrics);
}

}  // namespace reprise
