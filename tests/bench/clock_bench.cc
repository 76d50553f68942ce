// What the clock costs: reading it, and waiting with it beside a wait of
// Abseil's own.
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "runtime/base/clock.h"

namespace reprise::bench {
namespace {

void Now(benchmark::State& state) {
  const RealClock& clock = RealClock::Get();
  for (auto _ : state) benchmark::DoNotOptimize(clock.Now());
}
BENCHMARK(Now);

// As a worker looks whether a run is done.
void AwaitWithoutWaiting(benchmark::State& state) {
  RealClock& clock = RealClock::Get();
  absl::Mutex mu;
  const bool never = false;
  absl::MutexLock lock(&mu);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        clock.Await(mu, absl::Condition(&never), absl::InfinitePast()));
  }
}
BENCHMARK(AwaitWithoutWaiting);

// Waits of 200 us: `late_us` is how long after the deadline they end, on
// average.
template <typename Wait>
void MeasureWaits(benchmark::State& state, const Wait& wait) {
  RealClock& clock = RealClock::Get();
  absl::Mutex mu;
  const bool never = false;
  absl::Duration late;
  absl::MutexLock lock(&mu);
  for (auto _ : state) {
    const absl::Time deadline = clock.Now() + absl::Microseconds(200);
    wait(mu, absl::Condition(&never), deadline);
    late += clock.Now() - deadline;
  }
  state.counters["late_us"] = absl::ToDoubleMicroseconds(late) /
                              static_cast<double>(state.iterations());
}

void Await(benchmark::State& state) {
  MeasureWaits(state, [](absl::Mutex& mu, const absl::Condition& condition,
                         absl::Time deadline) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    RealClock::Get().Await(mu, condition, deadline);
  });
}
BENCHMARK(Await);

void AbseilsAwait(benchmark::State& state) {
  MeasureWaits(state, [](absl::Mutex& mu, const absl::Condition& condition,
                         absl::Time deadline) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    mu.AwaitWithDeadline(condition, RealClock::Get().ToWall(deadline));
  });
}
BENCHMARK(AbseilsAwait);

}  // namespace
}  // namespace reprise::bench
