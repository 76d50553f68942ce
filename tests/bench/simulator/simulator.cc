#include "tests/bench/simulator/simulator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>

#include "runtime/batch/admission.h"
#include "runtime/batch/batch_queue.h"

namespace reprise::bench {
namespace {

class SimulatedTask final : public InferTask {
 public:
  void Complete(TaskResult /*result*/) override {}
};

// The run of one simulation: three kinds of events (arrival, end of a batch,
// timer) and the decisions between them.
class Simulation {
 public:
  Simulation(const SimulationOptions& options, const Policy& policy)
      : options_(options),
        policy_(policy),
        ladder_(TableLadder(options)),
        random_(options.seed + 1),
        config_(Config(options)),
        bounds_(config_),
        queue_(bounds_),
        tasks_(static_cast<size_t>(options.requests)) {
    const Rung& largest = ladder_.back();
    const double capacity = largest.rows / absl::ToDoubleSeconds(TableTime(
                                               options.table, largest.rows));
    arrivals_ = Arrivals(options.process, options.load * capacity,
                         options.requests, options.seed);
  }

  SimulationResult Run() {
    while (true) {
      if (now_ >= DecideAt()) Decide();
      absl::Time next = DecideAt();
      if (next <= now_) next = ask_again_;
      if (next_arrival_ < arrivals_.size()) {
        next = std::min(next, kBegin + arrivals_[next_arrival_]);
      }
      if (next == absl::InfiniteFuture()) break;
      now_ = std::max(now_, next);
      Arrive();
    }
    return Summary();
  }

 private:
  static constexpr absl::Time kBegin = absl::UnixEpoch();
  static constexpr double kTail = 3;

  static BatchConfig Config(const SimulationOptions& options) {
    BatchConfig config;
    config.dynamic_batching = true;
    config.slo = options.slo;
    config.max_queue_requests = options.requests;
    return config;
  }

  // When the next batch is formed: at the end of the one that runs, or so much
  // before its predicted end as the copy takes.
  absl::Time DecideAt() const {
    const absl::Duration lead = Lead();
    if (lead == absl::ZeroDuration()) return busy_until_;
    return std::min(busy_until_, std::max(started_, predicted_end_ - lead));
  }
  absl::Duration Lead() const {
    return options_.copy_row *
           std::min<int64_t>(queue_.rows(), ladder_.back().rows);
  }

  void Arrive() {
    while (next_arrival_ < arrivals_.size() &&
           kBegin + arrivals_[next_arrival_] <= now_) {
      SimulatedTask& task = tasks_[next_arrival_];
      task.arrival = kBegin + arrivals_[next_arrival_];
      task.deadline = task.arrival + options_.slo;
      ++next_arrival_;
      if (options_.admission && !Admitted(task)) continue;
      if (!queue_.Offer(task, task.arrival).ok()) ++dropped_;
    }
  }

  bool Admitted(InferTask& task) {
    const AdmissionView view{
        .ladder = ladder_,
        .slo = options_.slo,
        .rows_ahead = queue_.RowsBefore(task, task.arrival),
        .arrival_rate = queue_.arrival_rate(task.arrival),
        .device_busy = std::max(absl::ZeroDuration(), busy_until_ - now_)};
    if (Admit(view, task.rows, task.deadline, now_) == Admission::kAdmitted) {
      return true;
    }
    ++dropped_;
    return false;
  }

  void Decide() {
    ask_again_ = absl::InfiniteFuture();
    if (queue_.empty()) return;
    const LaneView lane{.free_at = predicted_end_,
                        .submitted = busy_until_ > now_ ? 1 : 0};
    const QueueView view{.waiting = queue_.waiting(),
                         .rows = queue_.rows(),
                         .oldest = queue_.oldest(),
                         .last_run = absl::InfinitePast(),
                         .ladder = ladder_,
                         .arrival_rate = queue_.arrival_rate(now_),
                         .slo = options_.slo,
                         .max_delay = absl::ZeroDuration(),
                         .preferred = {},
                         .lead = Lead()};
    const Decision decision = policy_(
        {.queues = std::span(&view, 1), .lanes = std::span(&lane, 1)}, now_);
    ask_again_ = decision.ask_again;
    TakeOut(decision);
    if (decision.queue >= 0) Launch(decision);
  }

  void TakeOut(const Decision& decision) {
    std::vector<int> gone;
    for (const Decision::Drop& drop : decision.drops) {
      gone.push_back(drop.task);
    }
    dropped_ += static_cast<int>(gone.size());
    gone.insert(gone.end(), decision.tasks.begin(), decision.tasks.end());
    std::sort(gone.begin(), gone.end());
    running_.clear();
    for (const int task : decision.tasks) {
      running_.push_back(queue_.waiting()[static_cast<size_t>(task)]);
    }
    std::vector<Waiting> taken;
    queue_.Take(gone, taken);
    for (const Waiting& waiting : taken) bounds_.Leave(*waiting.task);
  }

  void Launch(const Decision& decision) {
    const Rung& rung = ladder_[static_cast<size_t>(decision.rung)];
    std::lognormal_distribution<double> jitter(0, options_.jitter);
    double factor = jitter(random_);
    if (options_.tail > 0 && share_(random_) < options_.tail) factor *= kTail;
    const absl::Duration time =
        TableTime(options_.table, rung.rows) * factor + kHostOverhead;
    const absl::Duration copy = options_.copy_row * rung.rows;
    copies_until_ = std::max(copies_until_, now_) + copy;
    started_ = std::max(busy_until_, copies_until_);
    predicted_end_ = started_ + MeanTime(rung);
    busy_until_ = started_ + time;
    busy_ += time;
    ++batches_;
    const absl::Time answered = busy_until_ + copy;
    for (const Waiting& waiting : running_) {
      latencies_.push_back(answered - waiting.task->arrival);
      if (answered > waiting.deadline) ++late_;
    }
  }

  SimulationResult Summary() {
    SimulationResult result;
    const auto offered = static_cast<double>(options_.requests);
    const auto answered = static_cast<double>(latencies_.size());
    result.in_time = (answered - late_) / offered;
    result.late = late_ / offered;
    result.dropped = dropped_ / offered;
    result.busy = absl::FDivDuration(busy_, now_ - kBegin);
    result.mean_rows = batches_ > 0 ? answered / batches_ : 0;
    std::sort(latencies_.begin(), latencies_.end());
    if (!latencies_.empty()) {
      result.p50 = latencies_[latencies_.size() / 2];
      result.p99 = latencies_[latencies_.size() * 99 / 100];
    }
    return result;
  }

  const SimulationOptions& options_;
  const Policy& policy_;
  const Ladder ladder_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> share_{0, 1};
  const BatchConfig config_;
  QueueBounds bounds_;
  BatchQueue queue_;
  std::vector<SimulatedTask> tasks_;
  std::vector<absl::Duration> arrivals_;
  size_t next_arrival_ = 0;
  absl::Time now_ = kBegin;
  absl::Time started_ = kBegin;  // the last batch
  absl::Time predicted_end_ = kBegin;
  absl::Time busy_until_ = kBegin;
  absl::Time copies_until_ = kBegin;
  absl::Time ask_again_ = absl::InfiniteFuture();
  std::vector<Waiting> running_;
  std::vector<absl::Duration> latencies_;
  absl::Duration busy_;
  int batches_ = 0;
  int late_ = 0;
  int dropped_ = 0;
};

}  // namespace

absl::Duration TableTime(TimeTable table, int rows) {
  switch (table) {
    case TimeTable::kAffine:
      return absl::Microseconds(550 + 115 * rows);
    case TimeTable::kStep:
      return absl::Microseconds(550 + 115 * ((rows + 15) / 16 * 16));
    case TimeTable::kFlat:
      return absl::Microseconds(4000 + 61 * rows);
  }
  return absl::ZeroDuration();
}

Ladder TableLadder(const SimulationOptions& options) {
  Ladder ladder;
  for (const int rows : options.sizes) {
    const absl::Duration time = TableTime(options.table, rows);
    ladder.push_back(
        {.rows = rows,
         .p50 = time,
         .p999 = time * (1 + options.margin) + 2 * options.copy_row * rows});
  }
  return ladder;
}

SimulationResult Simulate(const SimulationOptions& options,
                          const Policy& policy) {
  return Simulation(options, policy).Run();
}

double Knee(SimulationOptions options, const Policy& policy, double step) {
  double knee = 0;
  for (int i = 1; i * step <= 1.1; ++i) {
    options.load = i * step;
    if (Simulate(options, policy).in_time >= 0.99) knee = options.load;
  }
  return knee;
}

}  // namespace reprise::bench
