#include "runtime/batch/policy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

#include "absl/container/inlined_vector.h"

namespace reprise {
namespace {

// How many requests that do not fit are passed over in search of one that does.
constexpr int kLookAhead = 64;

// Above this share of its capacity a queue counts as overloaded, and requests
// may be given up for others.
constexpr double kOverload = 0.85;

// Without an SLO a larger batch is taken when it serves at least this share of
// the best rows per second: measured times are not better than that.
constexpr double kNearTie = 0.95;

struct Candidate {
  int queue = -1;
  int lane = 0;
  absl::Time start;  // predicted
  int rung = -1;
  size_t head = 0;   // first request that can be in time at all
  size_t first = 0;  // first request of the batch; [head, first) is given up
  int cap = 0;       // rows to take at most
  double score = 0;  // rows per second, by the queue's own capacity
  DispatchReason reason = DispatchReason::kFreeSlot;
};

struct Fill {
  const QueueView* queue = nullptr;
  size_t first = 0;
  int cap = 0;
  absl::Time finish;        // with an SLO, who is due before is passed over
  bool head_level = false;  // only requests of the first one's priority
};

size_t Size(const QueueView& queue) { return queue.waiting.size(); }

const Rung& RungAt(const QueueView& queue, int index) {
  return queue.ladder[static_cast<size_t>(index)];
}

int RungWithRoom(std::span<const Rung> ladder, int rows) {
  for (size_t i = 0; i < ladder.size(); ++i) {
    if (ladder[i].rows >= rows) return static_cast<int>(i);
  }
  return static_cast<int>(ladder.size()) - 1;
}

bool Late(const QueueView& queue, size_t task, absl::Time finish) {
  return queue.slo.has_value() && queue.waiting[task].deadline < finish;
}

// The rung for one request by itself: the smallest with room for it, or the
// fastest where that one would be late. Measured times need not ascend.
int OwnRung(const QueueView& queue, size_t task, absl::Time start) {
  int own = RungWithRoom(queue.ladder, queue.waiting[task].rows);
  if (!Late(queue, task, start + DueTime(RungAt(queue, own)))) return own;
  for (int b = own + 1; b < static_cast<int>(queue.ladder.size()); ++b) {
    if (DueTime(RungAt(queue, b)) < DueTime(RungAt(queue, own))) own = b;
  }
  return own;
}

// Rows that a batch of at most `cap` rows would hold; calls `take` for each of
// its requests.
template <typename Take>
int FillRows(const Fill& fill, const Take& take) {
  const QueueView& queue = *fill.queue;
  int rows = 0;
  int passed = 0;
  for (size_t i = fill.first; i < Size(queue) && rows < fill.cap; ++i) {
    const Waiting& waiting = queue.waiting[i];
    if (fill.head_level && waiting.level != queue.waiting[fill.first].level) {
      break;
    }
    if (waiting.rows > fill.cap - rows || Late(queue, i, fill.finish)) {
      if (queue.keep_order || ++passed > kLookAhead) break;
      continue;
    }
    rows += waiting.rows;
    take(static_cast<int>(i));
    if (!queue.batching) break;
  }
  return rows;
}

int CountRows(const Fill& fill) {
  return FillRows(fill, [](int) {});
}

// One decision: the candidates of all queues, then the choice between them.
class Chooser {
 public:
  Chooser(const DeviceView& device, absl::Time now, Decision& decision)
      : device_(device), now_(now), decision_(decision) {}

  void Run() {
    for (size_t q = 0; device_.slot_free && q < device_.queues.size(); ++q) {
      Consider(static_cast<int>(q));
    }
    if (const Candidate* best = Choose(); best != nullptr) Take(*best);
    std::sort(decision_.drops.begin(), decision_.drops.end(),
              [](const Decision::Drop& a, const Decision::Drop& b) {
                return std::tie(a.queue, a.task) < std::tie(b.queue, b.task);
              });
  }

 private:
  const QueueView& Queue(const Candidate& candidate) const {
    return device_.queues[static_cast<size_t>(candidate.queue)];
  }
  absl::Duration Due(const Candidate& candidate) const {
    return DueTime(RungAt(Queue(candidate), candidate.rung));
  }
  absl::Time HeadDeadline(const Candidate& candidate) const {
    const QueueView& queue = Queue(candidate);
    if (!queue.slo.has_value()) return absl::InfiniteFuture();
    return queue.waiting[candidate.first].deadline;
  }
  void AskAgain(absl::Time at) {
    decision_.ask_again = std::min(decision_.ask_again, at);
  }

  void Consider(int q);
  bool FindLane(const QueueView& queue, Candidate& candidate);
  void DropHopeless(const QueueView& queue, Candidate& candidate);
  void BestRung(const QueueView& queue, Candidate& candidate) const;
  void LargestInTime(const QueueView& queue, Candidate& candidate) const;
  static int PreferredSize(const QueueView& queue, const Candidate& candidate,
                           int rows);
  bool Release(const QueueView& queue, Candidate& candidate);
  const Candidate* Choose() const;
  const Candidate* Starved() const;
  const Candidate* Endangered(const Candidate& chosen) const;
  void Take(const Candidate& candidate);

  const DeviceView& device_;
  const absl::Time now_;
  Decision& decision_;
  // Room for so many queues with something to run, without allocating.
  absl::InlinedVector<Candidate, 64> candidates_;
};

void Chooser::Consider(int q) {
  const QueueView& queue = device_.queues[static_cast<size_t>(q)];
  if (queue.waiting.empty() || queue.ladder.empty()) return;
  Candidate candidate;
  candidate.queue = q;
  if (!FindLane(queue, candidate)) return;
  DropHopeless(queue, candidate);
  if (candidate.head == Size(queue)) return;
  candidate.first = candidate.head;
  if (queue.batching) {
    BestRung(queue, candidate);
  } else {
    const int rows = queue.waiting[candidate.head].rows;
    candidate.rung = OwnRung(queue, candidate.head, candidate.start);
    candidate.cap = rows;
    candidate.score =
        rows / absl::ToDoubleSeconds(MeanTime(RungAt(queue, candidate.rung)));
    candidate.reason = DispatchReason::kSingle;
  }
  if (!Release(queue, candidate)) return;
  candidate.score /= CapacityAt(queue.ladder, queue.slo).rows_per_second;
  candidates_.push_back(candidate);
}

// The lane that is free first. A batch behind a running one is decided as late
// as gathering it allows, so that it holds all that has come by then; a full
// one cannot gain by waiting, unless it may have to choose whom to give up, or
// a request of a higher priority may come.
bool Chooser::FindLane(const QueueView& queue, Candidate& candidate) {
  candidate.start = absl::InfiniteFuture();
  const size_t lanes =
      std::min(static_cast<size_t>(queue.lanes), device_.lanes.size());
  for (size_t i = 0; i < lanes; ++i) {
    const LaneView& lane = device_.lanes[i];
    if (lane.staged || lane.submitted > 1) continue;
    const absl::Time start =
        lane.submitted == 0 ? now_ : std::max(now_, lane.free_at);
    if (start >= candidate.start) continue;
    candidate.start = start;
    candidate.lane = static_cast<int>(i);
  }
  if (candidate.start == absl::InfiniteFuture()) return false;
  const LaneView& lane = device_.lanes[static_cast<size_t>(candidate.lane)];
  if (lane.submitted == 0) return true;
  const absl::Time decide_at = candidate.start - queue.lead;
  if (decide_at <= now_) return true;
  const bool full = queue.rows >= queue.ladder.back().rows;
  const bool first_come = queue.waiting.front().level == 0;
  if (full && first_come && !queue.slo.has_value()) return true;
  AskAgain(decide_at);
  return false;
}

void Chooser::DropHopeless(const QueueView& queue, Candidate& candidate) {
  if (!queue.slo.has_value()) return;
  absl::Duration slowest;
  for (const Rung& rung : queue.ladder) {
    slowest = std::max(slowest, DueTime(rung));
  }
  const absl::Time safe = candidate.start + slowest;
  bool found = false;
  for (size_t i = 0; i < Size(queue); ++i) {
    const bool surely = queue.waiting[i].deadline >= safe;
    const bool in_time =
        surely ||
        !Late(queue, i,
              candidate.start +
                  DueTime(RungAt(queue, OwnRung(queue, i, candidate.start))));
    if (in_time && !found) {
      candidate.head = i;
      found = true;
    }
    if (surely) break;  // and whoever comes later, mostly
    if (!in_time) {
      decision_.drops.push_back({candidate.queue, static_cast<int>(i)});
    }
  }
  if (!found) candidate.head = Size(queue);
}

void Chooser::BestRung(const QueueView& queue, Candidate& candidate) const {
  const Capacity capacity = CapacityAt(queue.ladder, queue.slo);
  const bool over = queue.arrival_rate > kOverload * capacity.rows_per_second ||
                    queue.rows > RungAt(queue, capacity.rung).rows;
  const double tie = queue.slo.has_value() ? 1.0 : kNearTie;
  double top = 0;
  size_t first = candidate.head;
  for (int b = 0; b < static_cast<int>(queue.ladder.size()); ++b) {
    const Rung& rung = RungAt(queue, b);
    // Without deadlines nobody fits into a larger one who fits into none so
    // far.
    const bool room = b > 0 && queue.rows <= RungAt(queue, b - 1).rows;
    if (room && !queue.slo.has_value()) break;
    const absl::Time finish = candidate.start + DueTime(rung);
    if (b > 0 && DueTime(rung) < DueTime(RungAt(queue, b - 1))) {
      first = candidate.head;
    }
    while (first < Size(queue) && Late(queue, first, finish)) ++first;
    if (first == Size(queue)) continue;
    const bool gives_up = first > candidate.head;
    if (gives_up && !over) continue;  // nobody is lost while there is capacity
    if (queue.waiting[first].rows > rung.rows) continue;
    const int rows = CountRows({.queue = &queue,
                                .first = first,
                                .cap = rung.rows,
                                .finish = finish,
                                .head_level = true});
    if (b > 0 && rows <= RungAt(queue, b - 1).rows) continue;
    // Beyond the capacity rung only to drain a burst in one go.
    const bool more = queue.rows > rung.rows;
    if (b > capacity.rung && (gives_up || (over && more))) continue;
    const double score = rows / absl::ToDoubleSeconds(MeanTime(rung));
    const bool better =
        queue.slo.has_value() ? score > top : score >= tie * top;
    top = std::max(top, score);
    if (!better) continue;
    candidate.rung = b;
    candidate.first = first;
    candidate.cap = rung.rows;
    candidate.score = score;
  }
  if (candidate.rung < 0) LargestInTime(queue, candidate);
}

// No rung is worth it by the rules: serve the head with as many others as its
// deadline allows.
void Chooser::LargestInTime(const QueueView& queue,
                            Candidate& candidate) const {
  const size_t head = candidate.head;
  const auto head_is_late = [&](int b) {
    return Late(queue, head, candidate.start + DueTime(RungAt(queue, b)));
  };
  const int own = OwnRung(queue, head, candidate.start);
  int largest = own;
  for (int b = own; b < static_cast<int>(queue.ladder.size()); ++b) {
    if (!head_is_late(b)) largest = b;
  }
  const int rows =
      CountRows({.queue = &queue,
                 .first = head,
                 .cap = RungAt(queue, largest).rows,
                 .finish = candidate.start + DueTime(RungAt(queue, largest)),
                 .head_level = true});
  candidate.first = head;
  candidate.rung = std::max(own, RungWithRoom(queue.ladder, rows));
  if (head_is_late(candidate.rung)) candidate.rung = largest;
  candidate.cap = RungAt(queue, candidate.rung).rows;
  candidate.score =
      rows / absl::ToDoubleSeconds(MeanTime(RungAt(queue, candidate.rung)));
}

// The largest preferred size that `rows` reach and at which the first request
// is in time; 0 if there is none.
int Chooser::PreferredSize(const QueueView& queue, const Candidate& candidate,
                           int rows) {
  int largest = 0;
  for (const int size : queue.preferred) {
    const Rung& rung = RungAt(queue, RungWithRoom(queue.ladder, size));
    if (size <= rows && size >= queue.waiting[candidate.first].rows &&
        !Late(queue, candidate.first, candidate.start + DueTime(rung))) {
      largest = size;
    }
  }
  return largest;
}

// Whether the batch may go now, or waits for company.
bool Chooser::Release(const QueueView& queue, Candidate& candidate) {
  const bool waits = queue.batching && queue.max_delay > absl::ZeroDuration();
  if (!waits || device_.draining) return true;
  const int full = RungAt(queue, CapacityAt(queue.ladder, queue.slo).rung).rows;
  const int rows = CountRows({.queue = &queue,
                              .first = candidate.first,
                              .cap = full,
                              .finish = candidate.start});
  if (rows >= full || rows < queue.rows) {  // or the next does not fit
    candidate.reason = DispatchReason::kFull;
    return true;
  }
  if (const int size = PreferredSize(queue, candidate, rows); size > 0) {
    candidate.rung = RungWithRoom(queue.ladder, size);
    candidate.cap = size;
    candidate.reason = DispatchReason::kPreferred;
    return true;
  }
  const absl::Time delay_over = queue.oldest + queue.max_delay;
  if (delay_over <= now_) {
    candidate.reason = DispatchReason::kDelay;
    return true;
  }
  absl::Time due = absl::InfiniteFuture();
  if (queue.slo.has_value()) {
    const Rung& rung = RungAt(queue, RungWithRoom(queue.ladder, rows));
    due = HeadDeadline(candidate) - DueTime(rung) - queue.lead;
  }
  if (due <= now_) {
    candidate.reason = DispatchReason::kDeadline;
    return true;
  }
  AskAgain(std::min(delay_over, due));
  return false;
}

const Candidate* Chooser::Choose() const {
  if (candidates_.empty()) return nullptr;
  if (const Candidate* starved = Starved(); starved != nullptr) return starved;
  const Candidate* best = &candidates_.front();
  for (const Candidate& candidate : candidates_) {
    if (candidate.score > best->score ||
        (candidate.score == best->score &&
         Queue(candidate).oldest < Queue(*best).oldest)) {
      best = &candidate;
    }
  }
  const Candidate* endangered = Endangered(*best);
  return endangered != nullptr ? endangered : best;
}

// Without an SLO a queue waits for two of the longest batches at most.
const Candidate* Chooser::Starved() const {
  if (candidates_.size() < 2) return nullptr;
  absl::Duration longest;
  for (const Candidate& candidate : candidates_) {
    longest = std::max(longest, DueTime(Queue(candidate).ladder.back()));
  }
  const Candidate* starved = nullptr;
  absl::Duration worst;
  for (const Candidate& candidate : candidates_) {
    const QueueView& queue = Queue(candidate);
    const absl::Duration bound =
        queue.slo.has_value() ? *queue.slo / 2 : 2 * longest;
    const absl::Duration over =
        now_ - std::max(queue.last_run, queue.oldest) - bound;
    if (over > worst) {
      worst = over;
      starved = &candidate;
    }
  }
  return starved;
}

// The queue whose head is in time now, but not behind `chosen`: the earliest
// deadline first, unless that of `chosen` is earlier still.
const Candidate* Chooser::Endangered(const Candidate& chosen) const {
  const Candidate* found = nullptr;
  absl::Time earliest = HeadDeadline(chosen);
  for (const Candidate& other : candidates_) {
    if (&other == &chosen || other.lane != chosen.lane) continue;
    const absl::Time deadline = HeadDeadline(other);
    const bool now_in_time = other.start + Due(other) <= deadline;
    const bool later_in_time =
        chosen.start + Due(chosen) + Due(other) <= deadline;
    if (now_in_time && !later_in_time && deadline < earliest) {
      earliest = deadline;
      found = &other;
    }
  }
  return found;
}

void Chooser::Take(const Candidate& candidate) {
  const QueueView& queue = Queue(candidate);
  const absl::Time finish = candidate.start + Due(candidate);
  decision_.rows =
      FillRows({.queue = &queue,
                .first = candidate.first,
                .cap = candidate.cap,
                .finish = finish},
               [this](int task) { decision_.tasks.push_back(task); });
  decision_.queue = candidate.queue;
  decision_.lane = candidate.lane;
  decision_.rung = candidate.rung;
  decision_.reason = candidate.reason;
  if (candidate.reason == DispatchReason::kFreeSlot &&
      decision_.rows == queue.ladder.back().rows) {
    decision_.reason = DispatchReason::kFull;
  }
  for (size_t i = candidate.head; i < candidate.first; ++i) {
    const Decision::Drop drop{candidate.queue, static_cast<int>(i)};
    const bool known = std::any_of(
        decision_.drops.begin(), decision_.drops.end(),
        [&](const Decision::Drop& other) {
          return other.queue == drop.queue && other.task == drop.task;
        });
    if (!known) decision_.drops.push_back(drop);
  }
}

}  // namespace

absl::string_view DispatchReasonName(DispatchReason reason) {
  constexpr std::array<absl::string_view, kDispatchReasons> kNames = {
      "free_slot", "full", "preferred", "delay", "deadline", "single"};
  return kNames[static_cast<size_t>(reason)];
}

Capacity CapacityAt(std::span<const Rung> ladder,
                    std::optional<absl::Duration> slo) {
  Capacity capacity;
  for (size_t i = 0; i < ladder.size(); ++i) {
    if (slo.has_value() && i > 0 && 2 * DueTime(ladder[i]) > *slo) break;
    capacity.rung = static_cast<int>(i);
  }
  const Rung& rung = ladder[static_cast<size_t>(capacity.rung)];
  capacity.rows_per_second = rung.rows / absl::ToDoubleSeconds(MeanTime(rung));
  return capacity;
}

void Decide(const DeviceView& device, absl::Time now, Decision& decision) {
  decision.queue = -1;
  decision.rows = 0;
  decision.tasks.clear();
  decision.drops.clear();
  decision.ask_again = absl::InfiniteFuture();
  Chooser(device, now, decision).Run();
}

Decision Decide(const DeviceView& device, absl::Time now) {
  Decision decision;
  Decide(device, now, decision);
  return decision;
}

}  // namespace reprise
