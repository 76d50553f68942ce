// What holds of every decision, whatever is shown: devices and queues are drawn
// from a fixed seed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/batch/policy.h"

namespace reprise {
namespace {

constexpr int kDevices = 10'000;
constexpr absl::Time kNow = absl::UnixEpoch();

// A device with all that its view refers to.
class RandomDevice {
 public:
  explicit RandomDevice(uint64_t seed) : random_(seed) {
    const int lanes = 1 + Below(3);
    for (int i = 0; i < lanes; ++i) AddLane();
    const int queues = 1 + Below(3);
    for (int i = 0; i < queues; ++i) AddQueue(lanes);
    for (Queue& queue : queues_) views_.push_back(queue.view);
    view_.queues = views_;
    view_.lanes = lanes_;
    view_.slot_free = Below(20) > 0;
    view_.draining = Below(10) == 0;
  }
  RandomDevice(const RandomDevice&) = delete;
  RandomDevice& operator=(const RandomDevice&) = delete;

  const DeviceView& view() const { return view_; }

 private:
  struct Queue {
    std::vector<Waiting> waiting;
    Ladder ladder;
    std::vector<int> preferred;
    QueueView view;
  };

  int Below(int bound) {
    return static_cast<int>(random_() % static_cast<uint64_t>(bound));
  }
  absl::Duration Micros(int below) { return absl::Microseconds(Below(below)); }

  void AddLane() {
    LaneView lane;
    lane.submitted = Below(3);
    lane.staged = lane.submitted > 0 && Below(4) == 0;
    if (lane.submitted > 0) {
      lane.free_at = kNow + Micros(4000) - absl::Milliseconds(1);
    }
    lanes_.push_back(lane);
  }

  // Times mostly ascend; the measured ones of small rungs need not.
  void FillLadder(Queue& queue) {
    const std::vector<int> sizes = {1, 2, 3, 4, 8, 12, 16, 32};
    const bool noisy = Below(3) == 0;
    for (const int size : sizes) {
      if (size != 8 && Below(2) == 0) continue;
      const int base = noisy ? Below(3000) : 100 + 50 * size;
      queue.ladder.push_back({.rows = size,
                              .p50 = absl::Microseconds(1 + base),
                              .p999 = absl::Microseconds(1 + base + Below(9))});
    }
  }

  void FillWaiting(Queue& queue) {
    const int count = Below(4) == 0 ? Below(100) : Below(8);
    const int largest = queue.ladder.back().rows;
    for (int i = 0; i < count; ++i) {
      Waiting waiting;
      waiting.rows = 1 + Below(Below(2) == 0 ? largest : std::min(2, largest));
      waiting.enqueued = kNow - Micros(3000);
      waiting.sequence = static_cast<uint64_t>(i);
      waiting.level = queue.view.keep_order ? 0 : Below(2);
      if (Below(4) > 0) waiting.deadline = kNow + Micros(6000);
      queue.view.rows += waiting.rows;
      queue.view.oldest = std::min(queue.view.oldest, waiting.enqueued);
      queue.waiting.push_back(waiting);
    }
    if (queue.view.keep_order) return;
    std::sort(queue.waiting.begin(), queue.waiting.end(),
              [](const Waiting& a, const Waiting& b) {
                return a.level != b.level ? a.level < b.level
                                          : a.deadline < b.deadline;
              });
  }

  void AddQueue(int lanes) {
    Queue& queue = queues_.emplace_back();
    QueueView& view = queue.view;
    view.keep_order = Below(3) == 0;
    view.batching = Below(5) > 0;
    FillLadder(queue);
    FillWaiting(queue);
    if (Below(2) == 0) view.slo = Micros(8000);
    if (Below(2) == 0) view.max_delay = Micros(3000);
    for (const int size : {2, 4, 6}) {
      if (size <= queue.ladder.back().rows && Below(3) == 0) {
        queue.preferred.push_back(size);
      }
    }
    view.arrival_rate = Below(3) == 0 ? 1e6 : Below(3000);
    view.last_run = kNow - Micros(5000);
    view.lead = Micros(500);
    view.lanes = 1 + Below(lanes);
    view.waiting = queue.waiting;
    view.ladder = queue.ladder;
    view.preferred = queue.preferred;
  }

  std::mt19937_64 random_;
  std::deque<Queue> queues_;
  std::vector<QueueView> views_;
  std::vector<LaneView> lanes_;
  DeviceView view_;
};

class PolicyInvariantsTest : public ::testing::Test {
 protected:
  // Calls `check` for each device, until it has failed.
  template <typename Check>
  static void ForEachDevice(const Check& check) {
    for (int seed = 0; seed < kDevices && !HasFailure(); ++seed) {
      SCOPED_TRACE(seed);
      const RandomDevice device(static_cast<uint64_t>(seed));
      check(device.view(), Decide(device.view(), kNow));
    }
  }
};

const QueueView& Chosen(const DeviceView& device, const Decision& decision) {
  return device.queues[static_cast<size_t>(decision.queue)];
}

absl::Time Start(const LaneView& lane) {
  return lane.submitted == 0 ? kNow : std::max(kNow, lane.free_at);
}

bool IsOpen(const LaneView& lane) { return !lane.staged && lane.submitted < 2; }

bool IsDropped(const Decision& decision, int queue, size_t task) {
  return std::any_of(decision.drops.begin(), decision.drops.end(),
                     [&](const Decision::Drop& drop) {
                       return drop.queue == queue &&
                              drop.task == static_cast<int>(task);
                     });
}

TEST_F(PolicyInvariantsTest, ABatchHasRequestsThatFitOnItsRung) {
  int batches = 0;
  ForEachDevice([&](const DeviceView& device, const Decision& decision) {
    if (decision.queue < 0) {
      EXPECT_TRUE(decision.tasks.empty());
      return;
    }
    ++batches;
    const QueueView& queue = Chosen(device, decision);
    ASSERT_FALSE(decision.tasks.empty());
    int rows = 0;
    int last = -1;
    for (const int task : decision.tasks) {
      ASSERT_GT(task, last);
      ASSERT_LT(task, static_cast<int>(queue.waiting.size()));
      rows += queue.waiting[static_cast<size_t>(task)].rows;
      last = task;
    }
    EXPECT_EQ(decision.rows, rows);
    EXPECT_GT(decision.rows, 0);
    ASSERT_LT(decision.rung, static_cast<int>(queue.ladder.size()));
    EXPECT_LE(rows, queue.ladder[static_cast<size_t>(decision.rung)].rows);
    EXPECT_TRUE(queue.batching || decision.tasks.size() == 1);
  });
  EXPECT_GT(batches, kDevices / 4);
}

TEST_F(PolicyInvariantsTest, ABatchHasALaneThatMayTakeIt) {
  ForEachDevice([](const DeviceView& device, const Decision& decision) {
    if (decision.queue < 0) return;
    EXPECT_TRUE(device.slot_free);
    ASSERT_LT(decision.lane, static_cast<int>(device.lanes.size()));
    EXPECT_LT(decision.lane, Chosen(device, decision).lanes);
    EXPECT_TRUE(IsOpen(device.lanes[static_cast<size_t>(decision.lane)]));
  });
}

TEST_F(PolicyInvariantsTest, WithASloNobodyInABatchIsPredictedToBeLate) {
  ForEachDevice([](const DeviceView& device, const Decision& decision) {
    if (decision.queue < 0) return;
    const QueueView& queue = Chosen(device, decision);
    if (!queue.slo.has_value()) return;
    const absl::Time finish =
        Start(device.lanes[static_cast<size_t>(decision.lane)]) +
        DueTime(queue.ladder[static_cast<size_t>(decision.rung)]);
    for (const int task : decision.tasks) {
      EXPECT_GE(queue.waiting[static_cast<size_t>(task)].deadline, finish);
    }
  });
}

TEST_F(PolicyInvariantsTest, APreferredSizeIsNotPassed) {
  int batches = 0;
  ForEachDevice([&](const DeviceView& device, const Decision& decision) {
    if (decision.queue < 0 || decision.reason != DispatchReason::kPreferred) {
      return;
    }
    ++batches;
    EXPECT_LE(decision.rows, Chosen(device, decision).preferred.back());
  });
  EXPECT_GT(batches, 100);
}

TEST_F(PolicyInvariantsTest, WithOrderKeptNobodyIsPassedOver) {
  ForEachDevice([](const DeviceView& device, const Decision& decision) {
    if (decision.queue < 0 || !Chosen(device, decision).keep_order) return;
    size_t next = 0;
    for (int task = 0; task <= decision.tasks.back(); ++task) {
      if (decision.tasks[next] == task) {
        ++next;
      } else {
        EXPECT_TRUE(
            IsDropped(decision, decision.queue, static_cast<size_t>(task)));
      }
    }
  });
}

TEST_F(PolicyInvariantsTest, DropsAscendAndAreNoneOfTheBatch) {
  int drops = 0;
  ForEachDevice([&](const DeviceView& device, const Decision& decision) {
    const Decision::Drop* last = nullptr;
    for (const Decision::Drop& drop : decision.drops) {
      ++drops;
      ASSERT_LT(drop.queue, static_cast<int>(device.queues.size()));
      const QueueView& queue = device.queues[static_cast<size_t>(drop.queue)];
      ASSERT_LT(drop.task, static_cast<int>(queue.waiting.size()));
      EXPECT_TRUE(queue.slo.has_value());
      if (last != nullptr) {
        EXPECT_TRUE(last->queue < drop.queue ||
                    (last->queue == drop.queue && last->task < drop.task));
      }
      if (drop.queue == decision.queue) {
        EXPECT_FALSE(std::binary_search(decision.tasks.begin(),
                                        decision.tasks.end(), drop.task));
      }
      last = &drop;
    }
  });
  EXPECT_GT(drops, 1000);
}

// By no rung that has room for it, from the start of the batch or of any lane
// that is open to it.
TEST_F(PolicyInvariantsTest, WhoIsDroppedIsLateOrMakesRoom) {
  ForEachDevice([](const DeviceView& device, const Decision& decision) {
    for (const Decision::Drop& drop : decision.drops) {
      const QueueView& queue = device.queues[static_cast<size_t>(drop.queue)];
      const Waiting& waiting = queue.waiting[static_cast<size_t>(drop.task)];
      absl::Time earliest = absl::InfiniteFuture();
      for (int lane = 0; lane < queue.lanes; ++lane) {
        const LaneView& at = device.lanes[static_cast<size_t>(lane)];
        if (!IsOpen(at)) continue;
        for (const Rung& rung : queue.ladder) {
          if (rung.rows < waiting.rows) continue;
          earliest = std::min(earliest, Start(at) + DueTime(rung));
        }
      }
      const bool hopeless = waiting.deadline < earliest;
      const bool makes_room =
          drop.queue == decision.queue && drop.task < decision.tasks.front() &&
          waiting.deadline <
              Start(device.lanes[static_cast<size_t>(decision.lane)]) +
                  DueTime(queue.ladder[static_cast<size_t>(decision.rung)]);
      EXPECT_TRUE(hopeless || makes_room);
    }
  });
}

TEST_F(PolicyInvariantsTest, NobodyIsAskedAgainAtOnce) {
  ForEachDevice([](const DeviceView& /*device*/, const Decision& decision) {
    EXPECT_GT(decision.ask_again, kNow);
  });
}

// Nothing else would happen: no batch ends, and nobody arrives.
TEST_F(PolicyInvariantsTest, WhoCouldRunRunsOrATimeIsGiven) {
  ForEachDevice([](const DeviceView& device, const Decision& decision) {
    if (decision.queue >= 0 || !device.slot_free) return;
    for (size_t q = 0; q < device.queues.size(); ++q) {
      const QueueView& queue = device.queues[q];
      bool open = false;
      for (int lane = 0; lane < queue.lanes; ++lane) {
        open = open || IsOpen(device.lanes[static_cast<size_t>(lane)]);
      }
      for (size_t i = 0; open && i < queue.waiting.size(); ++i) {
        if (IsDropped(decision, static_cast<int>(q), i)) continue;
        EXPECT_LT(decision.ask_again, absl::InfiniteFuture());
      }
    }
  });
}

}  // namespace
}  // namespace reprise
