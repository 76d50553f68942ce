#include "runtime/batch/batch_queue.h"

#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Time kNow = absl::UnixEpoch();

class PlainTask final : public InferTask {
 public:
  void Complete(TaskResult /*result*/) override {}
};

class BatchQueueTest : public ::testing::Test {
 protected:
  InferTask& Task(int64_t bytes = 4) {
    InferTask& task = tasks_.emplace_back();
    task.bytes = bytes;
    task.arrival = kNow;
    return task;
  }

  std::vector<const InferTask*> Order(const BatchQueue& queue) {
    std::vector<const InferTask*> order;
    for (const Waiting& waiting : queue.waiting()) {
      order.push_back(waiting.task);
    }
    return order;
  }

  static std::vector<Waiting> Tidied(BatchQueue& queue, absl::Time now) {
    std::vector<Waiting> expired;
    queue.Tidy(now, expired);
    return expired;
  }

  std::deque<PlainTask> tasks_;
  BatchConfig config_;
  QueueBounds bounds_{config_};
};

TEST_F(BatchQueueTest, KeepsTheOrderOfAcceptance) {
  BatchQueue queue(bounds_);
  InferTask& a = Task();
  InferTask& b = Task();
  a.deadline = kNow + absl::Seconds(2);
  b.deadline = kNow + absl::Seconds(1);
  ASSERT_THAT(queue.Offer(a, kNow), IsOk());
  ASSERT_THAT(queue.Offer(b, kNow), IsOk());
  EXPECT_THAT(Order(queue), ElementsAre(&a, &b));
  EXPECT_EQ(queue.rows(), 2);
  EXPECT_EQ(queue.bytes(), 8);
}

TEST_F(BatchQueueTest, WithASloTheEarliestDeadlineRunsFirst) {
  config_.slo = absl::Seconds(5);
  BatchQueue queue(bounds_);
  InferTask& a = Task();
  InferTask& b = Task();
  a.deadline = kNow + absl::Seconds(2);
  b.deadline = kNow + absl::Seconds(1);
  ASSERT_THAT(queue.Offer(a, kNow), IsOk());
  ASSERT_THAT(queue.Offer(b, kNow), IsOk());
  EXPECT_THAT(Order(queue), ElementsAre(&b, &a));
}

TEST_F(BatchQueueTest, PrioritiesRunInOrderAndUnknownOnesAsTheDefault) {
  config_.priority_levels = 3;
  config_.default_priority = 2;
  BatchQueue queue(bounds_);
  InferTask& low = Task();
  InferTask& none = Task();
  InferTask& beyond = Task();
  InferTask& high = Task();
  low.priority = 3;
  beyond.priority = 9;
  high.priority = 1;
  for (InferTask* task : {&low, &none, &beyond, &high}) {
    ASSERT_THAT(queue.Offer(*task, kNow), IsOk());
  }
  EXPECT_THAT(Order(queue), ElementsAre(&high, &none, &beyond, &low));
}

TEST_F(BatchQueueTest, OnlyRowsThatWouldRunBeforeAreAhead) {
  config_.priority_levels = 2;
  config_.default_priority = 2;
  config_.slo = absl::Seconds(5);
  BatchQueue queue(bounds_);
  for (const int seconds : {2, 3, 4}) {
    InferTask& low = Task();
    low.rows = seconds;
    low.deadline = kNow + absl::Seconds(seconds);
    ASSERT_THAT(queue.Offer(low, kNow), IsOk());
  }
  InferTask& high = Task();
  high.priority = 1;
  high.deadline = kNow + absl::Seconds(9);
  EXPECT_EQ(queue.RowsBefore(high, kNow), 0);
  InferTask& between = Task();
  between.deadline = kNow + absl::Seconds(3);  // after its equal
  EXPECT_EQ(queue.RowsBefore(between, kNow), 2 + 3);
  InferTask& last = Task();
  last.deadline = kNow + absl::Seconds(9);
  EXPECT_EQ(queue.RowsBefore(last, kNow), queue.rows());
}

TEST_F(BatchQueueTest, TheDefaultTimeoutDoesNotEndWarmUp) {
  config_.default_queue.default_timeout = absl::Milliseconds(5);
  BatchQueue queue(bounds_);
  InferTask& task = Task();
  task.warmup = true;
  ASSERT_THAT(queue.Offer(task, kNow + absl::Seconds(1)), IsOk());
  EXPECT_EQ(queue.next_event(), absl::InfiniteFuture());
}

TEST_F(BatchQueueTest, PreservedOrderIgnoresPrioritiesAndDeadlines) {
  config_.priority_levels = 3;
  config_.default_priority = 2;
  config_.slo = absl::Seconds(5);
  config_.preserve_ordering = true;
  BatchQueue queue(bounds_);
  InferTask& low = Task();
  InferTask& high = Task();
  low.priority = 3;
  high.priority = 1;
  high.deadline = kNow + absl::Seconds(1);
  ASSERT_THAT(queue.Offer(low, kNow), IsOk());
  ASSERT_THAT(queue.Offer(high, kNow), IsOk());
  EXPECT_THAT(Order(queue), ElementsAre(&low, &high));
}

TEST_F(BatchQueueTest, ALowPriorityThatHasWaitedLongGoesFirst) {
  config_.priority_levels = 2;
  config_.default_priority = 1;
  BatchQueue queue(bounds_);
  InferTask& low = Task();
  low.priority = 2;
  ASSERT_THAT(queue.Offer(low, kNow), IsOk());
  InferTask& high = Task();
  ASSERT_THAT(queue.Offer(high, kNow + absl::Milliseconds(499)), IsOk());
  EXPECT_THAT(Order(queue), ElementsAre(&high, &low));
  EXPECT_EQ(queue.next_event(), kNow + kPriorityAge);
  EXPECT_THAT(Tidied(queue, kNow + kPriorityAge), IsEmpty());
  EXPECT_THAT(Order(queue), ElementsAre(&low, &high));
  EXPECT_EQ(queue.next_event(), absl::InfiniteFuture());
}

TEST_F(BatchQueueTest, RefusesBeyondTheBoundInRequests) {
  config_.max_queue_requests = 2;
  BatchQueue queue(bounds_);
  ASSERT_THAT(queue.Offer(Task(), kNow), IsOk());
  ASSERT_THAT(queue.Offer(Task(), kNow), IsOk());
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(queue.Offer(Task(), kNow),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         AllOf(HasSubstr("queue is full"),
                               HasSubstr("the limit is 2"))));
  }
  EXPECT_EQ(queue.waiting().size(), 2);
}

TEST_F(BatchQueueTest, RefusesBeyondTheBoundInBytes) {
  config_.max_queue_bytes = 100;
  BatchQueue queue(bounds_);
  ASSERT_THAT(queue.Offer(Task(60), kNow), IsOk());
  EXPECT_THAT(queue.Offer(Task(41), kNow),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("limit of 100")));
  EXPECT_THAT(queue.Offer(Task(40), kNow), IsOk());
}

TEST_F(BatchQueueTest, RefusesBeyondTheSizeOfAPriority) {
  config_.priority_levels = 2;
  config_.default_priority = 1;
  config_.priority_queues[2].max_queue_size = 1;
  BatchQueue queue(bounds_);
  InferTask& first = Task();
  InferTask& second = Task();
  first.priority = 2;
  second.priority = 2;
  ASSERT_THAT(queue.Offer(first, kNow), IsOk());
  EXPECT_THAT(queue.Offer(second, kNow),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("maximum queue size 1"),
                             HasSubstr("priority 2"))));
  EXPECT_THAT(queue.Offer(Task(), kNow), IsOk());
}

TEST_F(BatchQueueTest, WhatIsTakenCountsUntilItLeaves) {
  config_.max_queue_requests = 1;
  BatchQueue queue(bounds_);
  InferTask& task = Task();
  ASSERT_THAT(queue.Offer(task, kNow), IsOk());
  std::vector<Waiting> taken;
  queue.Take(std::vector<int>{0}, taken);
  ASSERT_EQ(taken.size(), 1);
  EXPECT_TRUE(queue.empty());
  EXPECT_THAT(queue.Offer(Task(), kNow),
              StatusIs(absl::StatusCode::kResourceExhausted));
  bounds_.Leave(task);
  EXPECT_THAT(queue.Offer(Task(), kNow), IsOk());
}

TEST_F(BatchQueueTest, ExpiresByWhicheverLimitComesFirst) {
  BatchQueue queue(bounds_);
  InferTask& by_deadline = Task();
  InferTask& by_timeout = Task();
  by_deadline.deadline = kNow + absl::Milliseconds(2);
  by_deadline.queue_limit = kNow + absl::Milliseconds(3);
  by_timeout.queue_limit = kNow + absl::Milliseconds(1);
  by_timeout.timeout_us = 1000;
  ASSERT_THAT(queue.Offer(by_deadline, kNow), IsOk());
  ASSERT_THAT(queue.Offer(by_timeout, kNow), IsOk());
  EXPECT_EQ(queue.next_event(), kNow + absl::Milliseconds(1));
  EXPECT_THAT(Tidied(queue, kNow + absl::Milliseconds(0.9)), IsEmpty());

  const absl::Time first = kNow + absl::Milliseconds(1);
  std::vector<Waiting> expired = Tidied(queue, first);
  ASSERT_EQ(expired.size(), 1);
  EXPECT_EQ(expired[0].task, &by_timeout);
  EXPECT_THAT(ExpiredStatus(expired[0], bounds_, first),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("timeout of 1000 us")));

  const absl::Time second = kNow + absl::Milliseconds(2);
  EXPECT_EQ(queue.next_event(), second);
  expired = Tidied(queue, second);
  ASSERT_EQ(expired.size(), 1);
  EXPECT_THAT(ExpiredStatus(expired[0], bounds_, second),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("request deadline")));
  EXPECT_EQ(bounds_.requests(), 0);
  EXPECT_EQ(bounds_.bytes(), 0);
  EXPECT_EQ(queue.rows(), 0);
}

TEST_F(BatchQueueTest, TheModelsDefaultTimeoutCountsFromArrival) {
  config_.default_queue.default_timeout = absl::Milliseconds(5);
  BatchQueue queue(bounds_);
  ASSERT_THAT(queue.Offer(Task(), kNow + absl::Milliseconds(2)), IsOk());
  EXPECT_EQ(queue.next_event(), kNow + absl::Milliseconds(5));
  const absl::Time over = kNow + absl::Milliseconds(5);
  const std::vector<Waiting> expired = Tidied(queue, over);
  ASSERT_EQ(expired.size(), 1);
  EXPECT_THAT(ExpiredStatus(expired[0], bounds_, over),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("default timeout of 5000 us")));
}

TEST_F(BatchQueueTest, TheEarlierOfTimeoutAndDefaultCountsAndIsNamed) {
  config_.default_queue.default_timeout = absl::Milliseconds(5);
  BatchQueue queue(bounds_);
  InferTask& sooner = Task();
  InferTask& later = Task();
  sooner.queue_limit = kNow + absl::Milliseconds(2);
  sooner.timeout_us = 2000;
  later.queue_limit = kNow + absl::Milliseconds(9);
  later.timeout_us = 9000;
  ASSERT_THAT(queue.Offer(sooner, kNow), IsOk());
  ASSERT_THAT(queue.Offer(later, kNow), IsOk());
  const absl::Time first = kNow + absl::Milliseconds(2);
  std::vector<Waiting> expired = Tidied(queue, first);
  ASSERT_EQ(expired.size(), 1);
  EXPECT_THAT(ExpiredStatus(expired[0], bounds_, first),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("its timeout of 2000 us")));
  const absl::Time second = kNow + absl::Milliseconds(5);
  expired = Tidied(queue, second);
  ASSERT_EQ(expired.size(), 1);
  EXPECT_THAT(ExpiredStatus(expired[0], bounds_, second),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       HasSubstr("default timeout of 5000 us")));
}

TEST_F(BatchQueueTest, APrioritysOwnPolicyGivesItsDefaultTimeout) {
  config_.priority_levels = 2;
  config_.default_priority = 2;
  config_.priority_queues[1].default_timeout = absl::Milliseconds(1);
  config_.priority_queues[2].default_timeout = absl::Milliseconds(7);
  for (const auto& [priority, timeout_ms] :
       {std::pair(0, 7), std::pair(1, 1), std::pair(99, 7)}) {
    BatchQueue queue(bounds_);
    InferTask& task = Task();
    task.priority = static_cast<uint64_t>(priority);
    ASSERT_THAT(queue.Offer(task, kNow), IsOk());
    EXPECT_EQ(queue.next_event(), kNow + absl::Milliseconds(timeout_ms))
        << "priority " << priority;
    queue.Clear();
  }
}

TEST_F(BatchQueueTest, WithDelayTheOverdueRunAfterTheOthers) {
  config_.default_queue.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  config_.default_queue.default_timeout = absl::Milliseconds(5);
  BatchQueue queue(bounds_);
  InferTask& old = Task();
  ASSERT_THAT(queue.Offer(old, kNow), IsOk());
  InferTask& young = Task();
  young.arrival = kNow + absl::Milliseconds(4);
  ASSERT_THAT(queue.Offer(young, kNow + absl::Milliseconds(4)), IsOk());
  EXPECT_THAT(Tidied(queue, kNow + absl::Milliseconds(5)), IsEmpty());
  EXPECT_THAT(Order(queue), ElementsAre(&young, &old));
  InferTask& last = Task();
  last.arrival = kNow + absl::Milliseconds(6);
  ASSERT_THAT(queue.Offer(last, kNow + absl::Milliseconds(6)), IsOk());
  EXPECT_THAT(Order(queue), ElementsAre(&young, &last, &old));
}

TEST_F(BatchQueueTest, RefusesWhatHasExpiredBeforeItCame) {
  BatchQueue queue(bounds_);
  InferTask& task = Task();
  task.queue_limit = kNow;
  EXPECT_THAT(queue.Offer(task, kNow),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(bounds_.requests(), 0);
}

TEST_F(BatchQueueTest, TakesFromTheMiddleAndKeepsTheRest) {
  BatchQueue queue(bounds_);
  std::vector<InferTask*> tasks;
  for (int i = 0; i < 5; ++i) {
    tasks.push_back(&Task());
    ASSERT_THAT(queue.Offer(*tasks.back(), kNow + absl::Seconds(i)), IsOk());
  }
  std::vector<Waiting> taken;
  queue.Take(std::vector<int>{0, 2, 3}, taken);
  EXPECT_THAT(Order(queue), ElementsAre(tasks[1], tasks[4]));
  EXPECT_EQ(queue.rows(), 2);
  EXPECT_EQ(queue.oldest(), kNow + absl::Seconds(1));
}

TEST_F(BatchQueueTest, RemovesARequestWhereverItIs) {
  BatchQueue queue(bounds_);
  InferTask& a = Task();
  InferTask& b = Task();
  InferTask& c = Task();
  for (InferTask* task : {&a, &b, &c}) {
    ASSERT_THAT(queue.Offer(*task, kNow), IsOk());
  }
  EXPECT_TRUE(queue.Remove(b).has_value());
  EXPECT_FALSE(queue.Remove(b).has_value());
  EXPECT_TRUE(queue.Remove(a).has_value());
  EXPECT_THAT(Order(queue), ElementsAre(&c));
  EXPECT_EQ(bounds_.requests(), 1);
  queue.Clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(bounds_.requests(), 0);
  EXPECT_EQ(queue.oldest(), absl::InfiniteFuture());
}

TEST_F(BatchQueueTest, AgreesWithASimpleModelOfItself) {
  config_.slo = absl::Seconds(1);
  config_.max_queue_requests = 100'000;
  BatchQueue queue(bounds_);
  std::mt19937_64 random(3);
  std::vector<InferTask*> model;  // by deadline, stable
  absl::Time now = kNow;
  for (int step = 0; step < 5000; ++step) {
    now += absl::Microseconds(random() % 50);
    if (random() % 3 != 0) {
      InferTask& task = Task();
      task.deadline = now + absl::Milliseconds(1 + random() % 4);
      ASSERT_THAT(queue.Offer(task, now), IsOk());
      auto at = model.begin();
      while (at != model.end() && (*at)->deadline <= task.deadline) ++at;
      model.insert(at, &task);
    } else if (!model.empty()) {
      std::vector<int> indices;
      std::vector<InferTask*> left;
      for (size_t i = 0; i < model.size(); ++i) {
        if (random() % 2 == 0 && indices.size() < 4) {
          indices.push_back(static_cast<int>(i));
        } else {
          left.push_back(model[i]);
        }
      }
      std::vector<Waiting> taken;
      queue.Take(indices, taken);
      for (const Waiting& waiting : taken) bounds_.Leave(*waiting.task);
      model = left;
    }
    const std::vector<Waiting> expired = Tidied(queue, now);
    std::erase_if(model,
                  [now](InferTask* task) { return task->deadline <= now; });
    ASSERT_EQ(Order(queue),
              std::vector<const InferTask*>(model.begin(), model.end()));
    ASSERT_EQ(bounds_.requests(), static_cast<int64_t>(model.size()));
    ASSERT_EQ(queue.next_event(),
              model.empty() ? absl::InfiniteFuture() : model.front()->deadline);
  }
}

}  // namespace
}  // namespace reprise
