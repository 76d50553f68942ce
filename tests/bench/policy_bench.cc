// What the choice of the next batch costs: Decide.
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "runtime/batch/policy.h"
#include "runtime/batch/waiting.h"
#include "runtime/tensor/ladder.h"
#include "tests/bench/bench_task.h"

namespace reprise::bench {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Ladder MakeLadder(int max_batch) {
  Ladder ladder;
  for (const int rows : DefaultLadder(max_batch)) {
    const absl::Duration time = absl::Microseconds(550 + 115 * rows);
    ladder.push_back({rows, time, time * 1.1});
  }
  return ladder;
}

// `queues` models with `waiting` requests each, and a free device.
void Measure(benchmark::State& state, bool slo) {
  const auto queue_count = static_cast<size_t>(state.range(0));
  const auto depth = static_cast<size_t>(state.range(1));
  const Ladder ladder = MakeLadder(32);
  BenchTask task;
  std::vector<std::vector<Waiting>> waiting(queue_count);
  std::vector<QueueView> queues(queue_count);
  for (size_t q = 0; q < queue_count; ++q) {
    for (size_t i = 0; i < depth; ++i) {
      Waiting one;
      one.task = &task;
      one.enqueued = kNow - absl::Microseconds(10 * (depth - i));
      one.sequence = i;
      if (slo) one.deadline = one.enqueued + absl::Milliseconds(20);
      waiting[q].push_back(one);
    }
    queues[q].waiting = waiting[q];
    queues[q].rows = static_cast<int64_t>(depth);
    queues[q].oldest = waiting[q].front().enqueued;
    queues[q].ladder = ladder;
    queues[q].arrival_rate = 5000;
    if (slo) queues[q].slo = absl::Milliseconds(20);
  }
  const LaneView lane;
  DeviceView view;
  view.queues = queues;
  view.lanes = {&lane, 1};
  int rows = 0;
  for (auto _ : state) {
    const Decision decision = Decide(view, kNow);
    rows = decision.rows;
    benchmark::DoNotOptimize(rows);
  }
  state.counters["rows"] = rows;
}

void DecideWithoutSlo(benchmark::State& state) { Measure(state, false); }
BENCHMARK(DecideWithoutSlo)->Args({1, 1})->Args({1, 64})->Args({8, 64});

void DecideWithSlo(benchmark::State& state) { Measure(state, true); }
BENCHMARK(DecideWithSlo)->Args({1, 1})->Args({1, 64})->Args({8, 64});

}  // namespace
}  // namespace reprise::bench
