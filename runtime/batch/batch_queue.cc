#include "runtime/batch/batch_queue.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace reprise {
namespace {

// Set in `level` of a request that has passed its queue limit under
// timeout_action DELAY: it sorts behind every other.
constexpr uint32_t kOverdue = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kTopLevel = 1;

}  // namespace

uint32_t QueueBounds::Level(const InferTask& task) const {
  if (config_.priority_levels == 0) return 0;
  const bool valid =
      task.priority >= 1 && task.priority <= config_.priority_levels;
  const uint64_t level = valid ? task.priority : config_.default_priority;
  return static_cast<uint32_t>(
      std::min<uint64_t>(level, std::numeric_limits<uint32_t>::max() - 1));
}

const QueuePolicy& QueueBounds::Policy(uint32_t level) const {
  if (config_.priority_queues.empty()) return config_.default_queue;
  const auto it = config_.priority_queues.find(level);
  return it == config_.priority_queues.end() ? config_.default_queue
                                             : it->second;
}

absl::Status QueueBounds::Enter(const InferTask& task) {
  if (requests_ >= config_.max_queue_requests) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "queue is full: ", requests_, " requests wait, the limit is ",
        config_.max_queue_requests));
  }
  if (bytes_ + task.bytes > config_.max_queue_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "queue is full: ", bytes_, " bytes wait, with this request's ",
        task.bytes, " they would pass the limit of ", config_.max_queue_bytes));
  }
  const uint32_t level = Level(task);
  const uint32_t max_size = Policy(level).max_queue_size;
  if (max_size > 0) {
    int64_t& count = by_level_[level];
    if (count >= max_size) {
      return absl::ResourceExhaustedError(
          absl::StrCat("queue is full: ", count,
                       " requests wait, exceeds maximum queue size ", max_size,
                       level > 0 ? absl::StrCat(" of priority ", level) : ""));
    }
    ++count;
  }
  ++requests_;
  bytes_ += task.bytes;
  return absl::OkStatus();
}

void QueueBounds::Leave(const InferTask& task) {
  --requests_;
  bytes_ -= task.bytes;
  const uint32_t level = Level(task);
  if (Policy(level).max_queue_size > 0) --by_level_[level];
}

BatchQueue::BatchQueue(QueueBounds& bounds)
    : bounds_(bounds),
      by_deadline_(bounds.config().slo.has_value() &&
                   !bounds.config().preserve_ordering),
      by_level_(bounds.config().priority_levels > 0 &&
                !bounds.config().preserve_ordering) {}

bool BatchQueue::Before(const Waiting& a, const Waiting& b) const {
  if (a.level != b.level) return a.level < b.level;
  if (by_deadline_ && a.deadline != b.deadline) return a.deadline < b.deadline;
  return a.sequence < b.sequence;
}

Waiting BatchQueue::Describe(InferTask& task, absl::Time now) const {
  const uint32_t level = bounds_.Level(task);
  const QueuePolicy& policy = bounds_.Policy(level);
  Waiting waiting;
  waiting.task = &task;
  waiting.deadline = task.deadline;
  waiting.queue_limit = task.queue_limit;
  if (policy.default_timeout > absl::ZeroDuration() && !task.warmup) {
    waiting.queue_limit =
        std::min(waiting.queue_limit, task.arrival + policy.default_timeout);
  }
  waiting.expiry = waiting.deadline;
  if (policy.timeout_action == QueuePolicy::TimeoutAction::kReject) {
    waiting.expiry = std::min(waiting.expiry, waiting.queue_limit);
  }
  waiting.enqueued = now;
  waiting.level = by_level_ ? level : 0;
  waiting.rows = task.rows;
  return waiting;
}

absl::Time BatchQueue::EventOf(const Waiting& waiting) const {
  if (waiting.level == kOverdue || bounds_.config().preserve_ordering) {
    return waiting.expiry;
  }
  absl::Time event = std::min(waiting.expiry, waiting.queue_limit);
  if (waiting.level > kTopLevel) {
    event = std::min(event, waiting.enqueued + kPriorityAge);
  }
  return event;
}

absl::Status BatchQueue::Offer(InferTask& task, absl::Time now,
                               absl::Duration cost) {
  Waiting waiting = Describe(task, now);
  if (waiting.expiry <= now) return ExpiredStatus(waiting, bounds_, now);
  REPRISE_RETURN_IF_ERROR(bounds_.Enter(task));
  waiting.cost = cost;
  waiting.sequence = bounds_.NextSequence();
  waiting.event = EventOf(waiting);
  rows_ += task.rows;
  bytes_ += task.bytes;
  rate_.Add(task.rows, now);
  Insert(waiting);
  return absl::OkStatus();
}

int64_t BatchQueue::RowsBefore(InferTask& task, absl::Time now) const {
  Waiting waiting = Describe(task, now);
  waiting.sequence = std::numeric_limits<uint64_t>::max();
  if (empty() || Before(items_.back(), waiting)) return rows_;
  int64_t rows = 0;
  for (const Waiting& item : this->waiting()) {
    if (!Before(item, waiting)) break;
    rows += item.rows;
  }
  return rows;
}

void BatchQueue::Insert(const Waiting& waiting) {
  if (items_.size() == items_.capacity()) {  // make room at the front, or grow
    if (head_ >= items_.size() / 2) {
      items_.erase(items_.begin(),
                   items_.begin() + static_cast<ptrdiff_t>(head_));
      head_ = 0;
    }
    if (items_.size() == items_.capacity()) {
      items_.reserve(std::max<size_t>(64, 2 * items_.capacity()));
    }
  }
  next_event_ = std::min(next_event_, waiting.event);
  oldest_ = std::min(oldest_, waiting.enqueued);
  if (empty() || !Before(waiting, items_.back())) {
    items_.push_back(waiting);
    return;
  }
  const auto at = std::upper_bound(
      items_.begin() + static_cast<ptrdiff_t>(head_), items_.end(), waiting,
      [this](const Waiting& a, const Waiting& b) { return Before(a, b); });
  items_.insert(at, waiting);
}

void BatchQueue::Forget(const Waiting& waiting) {
  rows_ -= waiting.rows;
  bytes_ -= waiting.task->bytes;
  if (waiting.event <= next_event_ || waiting.enqueued <= oldest_) {
    stale_ = true;
  }
}

void BatchQueue::Refresh() {
  if (head_ == items_.size()) {
    items_.clear();
    head_ = 0;
  }
  next_event_ = absl::InfiniteFuture();
  oldest_ = absl::InfiniteFuture();
  for (const Waiting& waiting : waiting()) {
    next_event_ = std::min(next_event_, waiting.event);
    oldest_ = std::min(oldest_, waiting.enqueued);
  }
  stale_ = false;
}

absl::Time BatchQueue::next_event() {
  if (stale_) Refresh();
  return next_event_;
}

absl::Time BatchQueue::oldest() {
  if (stale_) Refresh();
  return oldest_;
}

void BatchQueue::Tidy(absl::Time now, std::vector<Waiting>& expired) {
  if (next_event() > now) return;
  bool reorder = false;
  size_t kept = head_;
  for (size_t i = head_; i < items_.size(); ++i) {
    Waiting& item = items_[i];
    if (item.event <= now) {
      if (item.expiry <= now) {
        Forget(item);
        bounds_.Leave(*item.task);
        expired.push_back(item);
        continue;
      }
      // Overdue goes last, aged goes first; never back and forth.
      const bool overdue = item.queue_limit <= now;
      item.level = overdue ? kOverdue : kTopLevel;
      item.event = EventOf(item);
      reorder = true;
    }
    items_[kept++] = item;
  }
  items_.resize(kept);
  if (reorder) {
    std::sort(
        items_.begin() + static_cast<ptrdiff_t>(head_), items_.end(),
        [this](const Waiting& a, const Waiting& b) { return Before(a, b); });
  }
  Refresh();
}

std::optional<Waiting> BatchQueue::Remove(const InferTask& task) {
  for (size_t i = head_; i < items_.size(); ++i) {
    if (items_[i].task != &task) continue;
    const Waiting found = items_[i];
    Forget(found);
    bounds_.Leave(task);
    if (i == head_) {
      ++head_;
    } else {
      items_.erase(items_.begin() + static_cast<ptrdiff_t>(i));
    }
    if (empty()) Refresh();
    return found;
  }
  return std::nullopt;
}

void BatchQueue::Take(std::span<const int> indices,
                      std::vector<Waiting>& taken) {
  size_t next = 0;  // into indices
  size_t kept = head_;
  bool prefix = true;
  for (size_t i = 0; i < indices.size(); ++i) {
    prefix = prefix && indices[i] == static_cast<int>(i);
    const Waiting& waiting = items_[head_ + static_cast<size_t>(indices[i])];
    Forget(waiting);
    taken.push_back(waiting);
  }
  if (prefix) {
    head_ += indices.size();
  } else {
    for (size_t i = head_; i < items_.size(); ++i) {
      if (next < indices.size() &&
          i == head_ + static_cast<size_t>(indices[next])) {
        ++next;
        continue;
      }
      items_[kept++] = items_[i];
    }
    items_.resize(kept);
  }
  if (empty()) Refresh();
}

void BatchQueue::Clear() {
  for (const Waiting& item : waiting()) bounds_.Leave(*item.task);
  head_ = items_.size();
  rows_ = 0;
  bytes_ = 0;
  Refresh();
}

absl::Status ExpiredStatus(const Waiting& waiting, const QueueBounds& bounds,
                           absl::Time now) {
  const InferTask& task = *waiting.task;
  if (waiting.deadline <= std::min(now, waiting.queue_limit)) {
    return absl::DeadlineExceededError(
        "request deadline passed before its batch could run");
  }
  if (task.timeout_us > 0 && waiting.queue_limit == task.queue_limit) {
    return absl::DeadlineExceededError(
        absl::StrCat("request timeout expired: waited in the queue for longer "
                     "than its timeout of ",
                     task.timeout_us, " us"));
  }
  const absl::Duration timeout =
      bounds.Policy(bounds.Level(task)).default_timeout;
  return absl::DeadlineExceededError(absl::StrCat(
      "request timeout expired: waited in the queue for longer than the "
      "model's default timeout of ",
      absl::ToInt64Microseconds(timeout), " us"));
}

}  // namespace reprise
