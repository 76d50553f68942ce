#include "runtime/worker/device_metrics.h"

#include <cstddef>
#include <utility>

#include "runtime/worker/worker_metrics.h"

namespace reprise {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Labels;

using Bounds = prometheus::Histogram::BucketBoundaries;

// A step that can be cut takes 5 ms at most; the others 100 ms.
Bounds StepBounds() {
  return {.0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1};
}

// Waiting for turns beside batches included.
Bounds CaptureBounds() {
  return {.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5};
}

template <typename Kind>
Labels KindLabels(const std::string& device, absl::string_view (*name)(Kind),
                  size_t kind) {
  return {{"device", device},
          {"kind", std::string(name(static_cast<Kind>(kind)))}};
}

}  // namespace

DeviceMetrics::DeviceMetrics(prometheus::Registry& metrics,
                             const std::string& device) {
  auto& runs = BuildCounter()
                   .Name("reprise_graph_runs_total")
                   .Help(
                       "Runs given to the device, by what they were for; all "
                       "but warm_up are replays of captured graphs")
                   .Register(metrics);
  for (size_t i = 0; i < runs_.size(); ++i) {
    runs_[i] = &runs.Add(KindLabels(device, RunKindName, i));
  }
  auto& steps = BuildHistogram()
                    .Name("reprise_load_step_seconds")
                    .Help(
                        "Steps of loading a model, during which no batch "
                        "begins")
                    .Register(metrics);
  auto& longest = BuildGauge()
                      .Name("reprise_load_step_longest_seconds")
                      .Help("The longest step of loading a model so far")
                      .Register(metrics);
  for (size_t i = 0; i < step_seconds_.size(); ++i) {
    const Labels labels = KindLabels(device, LoadStepName, i);
    step_seconds_[i] = &steps.Add(labels, StepBounds());
    longest_steps_[i] = &longest.Add(labels);
  }
  const Labels labels{{"device", device}};
  capture_seconds_ =
      &BuildHistogram()
           .Name("reprise_graph_capture_seconds")
           .Help("Time to record, instantiate and upload a graph")
           .Register(metrics)
           .Add(labels, CaptureBounds());
  graphs_ = &BuildGauge()
                 .Name("reprise_graphs_captured")
                 .Help("Graphs that can be replayed")
                 .Register(metrics)
                 .Add(labels);
  left_out_ = &BuildCounter()
                   .Name("reprise_rungs_left_out_total")
                   .Help("Rungs left out since they could not be captured")
                   .Register(metrics)
                   .Add(labels);
  auto& bytes = DeviceBytes(metrics);
  bank_bytes_ = &bytes.Add({{"device", device}, {"pool", "slots"}});
  code_bytes_ = &bytes.Add({{"device", device}, {"pool", "code"}});
  graph_bytes_ = &bytes.Add({{"device", device}, {"pool", "graphs"}});
  auto& errors = BuildCounter()
                     .Name("reprise_gpu_errors_total")
                     .Help("Errors of a GPU: cuda and watchdog end the process")
                     .Register(metrics);
  faults_ = &errors.Add({{"device", device}, {"kind", "cuda"}});
  hangs_ = &errors.Add({{"device", device}, {"kind", "watchdog"}});
}

void DeviceMetrics::SetMemory(const DeviceMemory& memory) {
  bank_bytes_->Set(static_cast<double>(memory.banks));
  code_bytes_->Set(static_cast<double>(memory.code));
  graph_bytes_->Set(static_cast<double>(memory.graphs));
}

void DeviceMetrics::Ran(RunKind kind) {
  runs_[static_cast<size_t>(kind)]->Increment();
}

void DeviceMetrics::Captured(absl::Duration took) {
  capture_seconds_->Observe(absl::ToDoubleSeconds(took));
}

void DeviceMetrics::Stepped(LoadStep step, absl::Duration took) {
  const auto kind = static_cast<size_t>(step);
  step_seconds_[kind]->Observe(absl::ToDoubleSeconds(took));
  absl::MutexLock lock(&mu_);
  if (took <= longest_[kind]) return;
  longest_[kind] = took;
  longest_steps_[kind]->Set(absl::ToDoubleSeconds(took));
}

}  // namespace reprise
