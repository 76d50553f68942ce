#include "tests/bench/simulator/baselines.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace reprise::bench {
namespace {

int WaitingCount(const QueueView& queue) {
  return static_cast<int>(queue.waiting.size());
}

int RoundUp(const QueueView& queue, int rows) {
  for (size_t i = 0; i < queue.ladder.size(); ++i) {
    if (queue.ladder[i].rows >= rows) return static_cast<int>(i);
  }
  return static_cast<int>(queue.ladder.size()) - 1;
}

const Rung& At(const QueueView& queue, int rung) {
  return queue.ladder[static_cast<size_t>(rung)];
}

// Drops [0, first), runs the next `rows`.
Decision Run(const QueueView& queue, int first, int rows) {
  Decision decision;
  for (int i = 0; i < first; ++i) decision.drops.push_back({0, i});
  if (rows == 0) return decision;
  decision.queue = 0;
  decision.rung = RoundUp(queue, rows);
  decision.rows = rows;
  for (int i = first; i < first + rows; ++i) decision.tasks.push_back(i);
  return decision;
}

Decision Fifo(const DeviceView& device, absl::Time /*now*/) {
  const QueueView& queue = device.queues[0];
  return Run(queue, 0, std::min(WaitingCount(queue), queue.ladder.back().rows));
}

Decision Delayed(const DeviceView& device, absl::Time now,
                 absl::Duration delay) {
  const QueueView& queue = device.queues[0];
  const bool full = WaitingCount(queue) >= queue.ladder.back().rows;
  if (full || (WaitingCount(queue) > 0 && queue.oldest + delay <= now)) {
    return Fifo(device, now);
  }
  Decision decision;
  if (WaitingCount(queue) > 0) decision.ask_again = queue.oldest + delay;
  return decision;
}

Decision TfCost(const DeviceView& device, absl::Time /*now*/) {
  const QueueView& queue = device.queues[0];
  const int waiting = std::min(WaitingCount(queue), queue.ladder.back().rows);
  if (waiting == 0) return {};
  const int up = RoundUp(queue, waiting);
  if (up == 0 || At(queue, up).rows == waiting) return Run(queue, 0, waiting);
  const int down = up - 1;
  const absl::Duration up_cost = DueTime(At(queue, up)) / waiting;
  const absl::Duration down_cost =
      DueTime(At(queue, down)) / At(queue, down).rows;
  return Run(queue, 0, up_cost <= down_cost ? waiting : At(queue, down).rows);
}

int DropHopeless(const QueueView& queue, absl::Time now) {
  int first = 0;
  while (first < WaitingCount(queue) &&
         queue.waiting[static_cast<size_t>(first)].deadline <
             now + DueTime(queue.ladder.front())) {
    ++first;
  }
  return first;
}

Decision Earliest(const DeviceView& device, absl::Time now) {
  const QueueView& queue = device.queues[0];
  const int first = DropHopeless(queue, now);
  if (first == WaitingCount(queue)) return Run(queue, first, 0);
  const absl::Time due = queue.waiting[static_cast<size_t>(first)].deadline;
  int rows = queue.ladder.front().rows;
  for (const Rung& rung : queue.ladder) {
    if (now + DueTime(rung) <= due) rows = rung.rows;
  }
  return Run(queue, first, std::min(rows, WaitingCount(queue) - first));
}

Decision Nexus(const DeviceView& device, absl::Time now) {
  const QueueView& queue = device.queues[0];
  const int window = At(queue, CapacityAt(queue.ladder, queue.slo).rung).rows;
  int first = 0;
  int rows = 0;
  for (; first < WaitingCount(queue); ++first) {
    rows = std::min(window, WaitingCount(queue) - first);
    const absl::Duration time = DueTime(At(queue, RoundUp(queue, rows)));
    if (queue.waiting[static_cast<size_t>(first)].deadline >= now + time) break;
    rows = 0;
  }
  return Run(queue, first, rows);
}

}  // namespace

absl::StatusOr<Policy> PolicyByName(const std::string& name) {
  if (name == "fifo") return Policy(Fifo);
  if (name == "tfcost") return Policy(TfCost);
  if (name == "earliest") return Policy(Earliest);
  if (name == "nexus") return Policy(Nexus);
  if (name == "v3") {
    return Policy([](const DeviceView& device, absl::Time now) {
      return Decide(device, now);
    });
  }
  absl::string_view rest = name;
  double milliseconds = 0;
  if (absl::ConsumePrefix(&rest, "delay:") &&
      absl::SimpleAtod(rest, &milliseconds) && milliseconds >= 0) {
    const absl::Duration delay = absl::Milliseconds(milliseconds);
    return Policy([delay](const DeviceView& device, absl::Time now) {
      return Delayed(device, now, delay);
    });
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown policy '", name,
                   "' (fifo, delay:MS, tfcost, earliest, nexus, v3)"));
}

}  // namespace reprise::bench
