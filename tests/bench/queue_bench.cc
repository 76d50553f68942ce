// What a request pays to wait: BatchQueue.
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "runtime/batch/batch_config.h"
#include "runtime/batch/batch_queue.h"
#include "runtime/batch/waiting.h"
#include "tests/bench/bench_task.h"

namespace reprise::bench {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

// `depth` requests are offered and taken as one batch, over and over.
void OfferAndTake(benchmark::State& state, const BatchConfig& config,
                  bool timeouts) {
  const auto depth = static_cast<size_t>(state.range(0));
  QueueBounds bounds(config);
  BatchQueue queue(bounds);
  std::vector<BenchTask> tasks(depth);
  std::vector<int> indices(depth);
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<Waiting> taken;
  absl::Time now = kStart;
  for (auto _ : state) {
    for (BenchTask& task : tasks) {
      now += absl::Microseconds(1);
      task.arrival = now;
      if (timeouts) task.queue_limit = now + absl::Milliseconds(100);
      benchmark::DoNotOptimize(queue.Offer(task, now));
    }
    taken.clear();
    queue.Take(indices, taken);
    for (const Waiting& waiting : taken) bounds.Leave(*waiting.task);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void OfferTake(benchmark::State& state) {
  BatchConfig config;
  config.dynamic_batching = true;
  OfferAndTake(state, config, /*timeouts=*/false);
}
BENCHMARK(OfferTake)->Arg(1)->Arg(8)->Arg(32);

void OfferTakeWithTimeouts(benchmark::State& state) {
  BatchConfig config;
  config.dynamic_batching = true;
  OfferAndTake(state, config, /*timeouts=*/true);
}
BENCHMARK(OfferTakeWithTimeouts)->Arg(1)->Arg(8)->Arg(32);

void OfferTakeByDeadline(benchmark::State& state) {
  BatchConfig config;
  config.dynamic_batching = true;
  config.slo = absl::Milliseconds(20);
  OfferAndTake(state, config, /*timeouts=*/true);
}
BENCHMARK(OfferTakeByDeadline)->Arg(1)->Arg(8)->Arg(32);

// One request comes and is cancelled while `depth` others wait.
void OfferCancel(benchmark::State& state) {
  BatchConfig config;
  config.dynamic_batching = true;
  config.max_queue_requests = state.range(0) + 1;
  QueueBounds bounds(config);
  BatchQueue queue(bounds);
  std::vector<BenchTask> tasks(static_cast<size_t>(state.range(0)));
  for (BenchTask& task : tasks) {
    benchmark::DoNotOptimize(queue.Offer(task, kStart));
  }
  BenchTask task;
  for (auto _ : state) {
    benchmark::DoNotOptimize(queue.Offer(task, kStart));
    if (queue.Remove(task).has_value()) bounds.Leave(task);
  }
}
BENCHMARK(OfferCancel)->Arg(0)->Arg(64)->Arg(1023);

}  // namespace
}  // namespace reprise::bench
