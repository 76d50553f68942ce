#include "runtime/worker/variant_builder.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise {

VariantBuilder::VariantBuilder(Owner& owner, WorkerMetrics& metrics,
                               Clock& clock)
    : owner_(owner), metrics_(metrics), clock_(clock) {}

void VariantBuilder::Start() {
  thread_ =
      Thread(absl::StrCat("loader-", metrics_.device()), [this] { Run(); });
}

void VariantBuilder::Request() {
  absl::MutexLock lock(&mu_);
  wanted_ = true;
}

void VariantBuilder::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.Join();
}

bool VariantBuilder::stopping() const {
  absl::MutexLock lock(&mu_);
  return stopping_;
}

void VariantBuilder::Run() {
  while (true) {
    {
      struct Due {
        const bool* wanted;
        const bool* stopping;
        bool Eval() const { return *wanted || *stopping; }
      } due{&wanted_, &stopping_};
      absl::MutexLock lock(&mu_, absl::Condition(&due, &Due::Eval));
      if (stopping_) return;
      wanted_ = false;
    }
    while (!stopping()) {
      const Job job = owner_.NextBuild();
      if (job.variant == nullptr) break;
      Build(job);
    }
  }
}

void VariantBuilder::Build(const Job& job) {
  const Served& served = job.variant->served;
  const absl::Time begin = clock_.Now();
  Prepared made;
  const absl::Status status = Prepare(job, made);
  const double seconds = absl::ToDoubleSeconds(clock_.Now() - begin);
  served.metrics.variant_seconds->Increment(seconds);
  const std::string what = absl::StrCat(
      "model=", LogName(served.model->name()), " dims=",
      LogName(VariantText(served.model->signature(), job.variant->key)),
      " seconds=", seconds);
  if (!status.ok()) {
    LogInfo(absl::StrCat("variant refused ", what, " sizes=",
                         LogValue(absl::StrJoin(job.plan.sizes, ",")),
                         " reason=", LogValue(status.message())));
  } else if (job.plan.partial) {
    LogVerbose(1, absl::StrCat("first rung of a variant made ", what,
                               " size=", absl::StrJoin(job.plan.sizes, ",")));
  } else {
    LogInfo(
        absl::StrCat("variant made ", what, " ",
                     LadderText(job.plan.sizes, made.lanes.front()->ladder())));
  }
  owner_.Built(job, status, std::move(made));
}

absl::Status VariantBuilder::Prepare(const Job& job, Prepared& made) {
  const Variant& variant = *job.variant;
  const Served& served = variant.served;
  for (int lane = 0; lane < job.plan.lanes; ++lane) {
    REPRISE_ASSIGN_OR_RETURN(
        std::unique_ptr<Executable> executable,
        served.loaded->Prepare(variant.key, job.plan.sizes, lane));
    made.lanes.push_back(std::move(executable));
  }
  made.metrics = std::make_unique<VariantMetrics>(
      metrics_, served.labels,
      VariantText(served.model->signature(), variant.key),
      made.lanes.front()->ladder(), served.batch().max_variants);
  return absl::OkStatus();
}

}  // namespace reprise
