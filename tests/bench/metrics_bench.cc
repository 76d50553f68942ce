// What the metrics cost a call. The goal is 1 % of the CPU time that a call
// takes at saturation, which serving/run prints.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "prometheus/labels.h"
#include "prometheus/registry.h"
#include "runtime/device/executable.h"
#include "runtime/model/model_config.h"
#include "runtime/model/model_statistics.h"
#include "runtime/model/model_version.h"
#include "runtime/tensor/ladder.h"
#include "runtime/tensor/signature.h"
#include "runtime/worker/worker_metrics.h"
#include "server/grpc/infer_metrics.h"

namespace reprise::bench {
namespace {

// All that one ModelInfer call counts in the RPC layer, from `models` models.
void CountCall(benchmark::State& state) {
  prometheus::Registry registry;
  InferMetrics metrics(registry);
  std::vector<std::unique_ptr<ModelVersion>> models;
  for (int64_t i = 0; i < state.range(0); ++i) {
    models.push_back(std::make_unique<ModelVersion>(
        static_cast<uint64_t>(i + 1), "model" + std::to_string(i), 1,
        ModelConfig(), Signature()));
  }
  size_t at = 0;
  for (auto _ : state) {
    metrics.AddReceived(4200);
    ModelSeries& series = metrics.For(*models[at]);
    series.AddRows(1);
    series.Count(absl::StatusCode::kOk, DeadlineOutcome::kMet,
                 absl::Microseconds(300));
    metrics.AddSent(4150);
    at = at + 1 == models.size() ? 0 : at + 1;
  }
}
BENCHMARK(CountCall)->Arg(1)->Arg(50);

// All that the worker counts of one batch of `rows` requests of one row.
void CountBatch(benchmark::State& state) {
  prometheus::Registry registry;
  WorkerMetrics worker(registry, std::nullopt);
  const prometheus::Labels labels = worker.ModelLabels("model", "1");
  const Ladder ladder = {{1, absl::Microseconds(20), absl::Microseconds(40)},
                         {32, absl::Microseconds(90), absl::Microseconds(99)}};
  ModelMetrics model(worker, labels, std::nullopt);
  VariantMetrics variant(worker, labels, "", ladder, 1);
  const auto rows = static_cast<int>(state.range(0));
  const Rung& rung = ladder[rows > 1 ? 1 : 0];
  RunTimes times;
  times.graph = absl::Microseconds(21);
  for (auto _ : state) {
    for (int i = 0; i < rows; ++i) model.queue_seconds.Observe(1e-4);
    model.queue_seconds.Flush();
    model.queue_requests->Set(rows);
    model.queue_bytes->Set(4096.0 * rows);
    model.dispatched[0]->Increment();
    model.ObserveRun(rows, rung, times, times.graph);
    variant.rungs[0].batches->Increment();
    variant.rungs[0].time->Observe(21e-6);
    variant.SetTimes(0, rung);
    worker.slots_in_flight->Set(1);
  }
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(CountBatch)->Arg(1)->Arg(8)->Arg(32);

// What ModelStatistics keeps of a call, and of a batch of its own.
void AddStatistics(benchmark::State& state) {
  ModelStatistics statistics;
  ModelStatistics::Success success;
  success.finished = absl::FromUnixSeconds(1'700'000'000);
  success.total = absl::Microseconds(300);
  for (auto _ : state) {
    statistics.AddSuccess(success);
    statistics.AddBatch(1, absl::Microseconds(1), absl::Microseconds(100),
                        absl::Microseconds(1));
  }
}
BENCHMARK(AddStatistics);

}  // namespace
}  // namespace reprise::bench
