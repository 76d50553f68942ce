#include "runtime/plan/memory_plan.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/status_macros.h"
#include "runtime/plan/liveness.h"

namespace reprise::plan {
namespace {

int64_t Aligned(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// Something that needs bytes of the arena: a buffer or a step's scratch.
struct Block {
  int64_t bytes = 0;
  Life life;
  int64_t offset = -1;
  BufferId buffer = kNoBuffer;
  int step = -1;  // of scratch

  std::string Name(const Plan& plan) const {
    return buffer != kNoBuffer
               ? plan.buffers[buffer].name
               : absl::StrCat("the scratch of ", plan.steps[step].name);
  }
};

std::vector<Block> Blocks(const Plan& plan) {
  const std::vector<Life> lives = Lives(plan);
  std::vector<Block> blocks;
  for (BufferId id = 0; id < static_cast<BufferId>(lives.size()); ++id) {
    const Buffer& buffer = plan.buffers[id];
    if (buffer.alias != kNoBuffer || buffer.place != Place::kArena ||
        lives[id].first < 0) {
      continue;
    }
    blocks.push_back({Aligned(std::max<int64_t>(buffer.bytes, 1)), lives[id],
                      buffer.offset, id, -1});
  }
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    const Step& step = plan.steps[i];
    if (step.scratch_bytes <= 0) continue;
    blocks.push_back({Aligned(step.scratch_bytes), Life{i, i},
                      step.scratch_offset, kNoBuffer, i});
  }
  return blocks;
}

// The start of the smallest gap among `placed` (ascending by offset, all alive
// with the block) that holds `bytes`; the end of them if none does.
int64_t BestGap(const std::vector<const Block*>& placed, int64_t bytes) {
  int64_t best_size = std::numeric_limits<int64_t>::max();
  int64_t best = -1;
  int64_t end = 0;
  for (const Block* block : placed) {
    const int64_t gap = block->offset - end;
    if (gap >= bytes && gap < best_size) {
      best_size = gap;
      best = end;
    }
    end = std::max(end, block->offset + block->bytes);
  }
  return best >= 0 ? best : end;
}

absl::Status CheckIds(const Plan& plan, const Step& step) {
  const auto count = static_cast<BufferId>(plan.buffers.size());
  for (const std::vector<BufferId>* ids : {&step.reads, &step.writes}) {
    for (const BufferId id : *ids) {
      if (id < kNoBuffer || id >= count) {
        return absl::InternalError(absl::StrCat(
            "step ", step.name, " names buffer ", id, " of ", count));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAliases(const Plan& plan) {
  const auto count = static_cast<BufferId>(plan.buffers.size());
  for (const Buffer& buffer : plan.buffers) {
    BufferId id = buffer.alias;
    for (BufferId hops = 0; id != kNoBuffer; ++hops) {
      if (id < 0 || id >= count || hops > count) {
        return absl::InternalError(
            absl::StrCat("buffer ", buffer.name, " is a view of nothing"));
      }
      if (buffer.bytes > plan.buffers[id].bytes) {
        return absl::InternalError(
            absl::StrCat("buffer ", buffer.name, " of ", buffer.bytes,
                         " bytes is a view of ", plan.buffers[id].name, " of ",
                         plan.buffers[id].bytes));
      }
      id = plan.buffers[id].alias;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckForm(const Plan& plan) {
  REPRISE_RETURN_IF_ERROR(CheckAliases(plan));
  std::vector<bool> written(plan.buffers.size());
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    written[i] = plan.buffers[i].place == Place::kInput ||
                 plan.buffers[i].place == Place::kConstant;
  }
  for (const Step& step : plan.steps) {
    REPRISE_RETURN_IF_ERROR(CheckIds(plan, step));
    for (const BufferId id : step.reads) {
      if (id != kNoBuffer && !written[Root(plan, id)]) {
        return absl::InternalError(absl::StrCat("step ", step.name, " reads ",
                                                plan.buffers[id].name,
                                                " before anything wrote it"));
      }
    }
    for (const BufferId id : step.writes) {
      if (id == kNoBuffer) continue;
      const BufferId root = Root(plan, id);
      const Place place = plan.buffers[root].place;
      if (place == Place::kInput || place == Place::kConstant) {
        return absl::InternalError(
            absl::StrCat("step ", step.name, " writes ", plan.buffers[id].name,
                         ", which is ",
                         place == Place::kInput ? "a slot input" : "constant"));
      }
      written[root] = true;
    }
  }
  return absl::OkStatus();
}

// Blocks that live for more steps than this are few, as a rule: they are looked
// through one by one.
constexpr int kShortLife = 64;

// What has an offset, found by when it lives: a model has thousands of steps,
// and most of what they make is gone after a few.
class PlacedBlocks {
 public:
  explicit PlacedBlocks(size_t steps) : starts_(steps) {}

  // Those alive with `life`, ascending by offset.
  std::vector<const Block*> AliveWith(const Life& life) {
    std::vector<const Block*> alive;
    const bool everywhere = life.last - life.first > kShortLife;
    if (everywhere) Sort();
    for (const Block* block : everywhere ? all_ : long_) {
      if (block->life.Overlaps(life)) alive.push_back(block);
    }
    if (everywhere) return alive;
    const auto middle = static_cast<int64_t>(alive.size());
    for (int i = std::max(0, life.first - kShortLife); i <= life.last; ++i) {
      for (const Block* block : starts_[i]) {
        if (block->life.Overlaps(life)) alive.push_back(block);
      }
    }
    SortFrom(middle, alive);
    return alive;
  }

  void Add(const Block& block) {
    all_.push_back(&block);
    if (block.life.last - block.life.first > kShortLife) {
      long_.insert(
          std::upper_bound(long_.begin(), long_.end(), &block, ByOffset),
          &block);
    } else {
      starts_[block.life.first].push_back(&block);
    }
  }

 private:
  static bool ByOffset(const Block* a, const Block* b) {
    return a->offset < b->offset;
  }
  // Sorts `blocks`, whose first `sorted` are sorted already.
  static void SortFrom(int64_t sorted, std::vector<const Block*>& blocks) {
    const auto middle = blocks.begin() + sorted;
    std::sort(middle, blocks.end(), ByOffset);
    std::inplace_merge(blocks.begin(), middle, blocks.end(), ByOffset);
  }
  void Sort() {
    if (sorted_ == all_.size()) return;
    SortFrom(static_cast<int64_t>(sorted_), all_);
    sorted_ = all_.size();
  }

  std::vector<const Block*> all_;
  size_t sorted_ = 0;               // so many of `all_`
  std::vector<const Block*> long_;  // those of long lives, sorted
  std::vector<std::vector<const Block*>> starts_;  // the others, by first step
};

// Blocks in the order in which they begin to live, each held against those that
// live then: since none of these overlap, its neighbours will do.
absl::Status CheckOverlaps(const Plan& plan, const std::vector<Block>& blocks) {
  std::vector<const Block*> begins;
  begins.reserve(blocks.size());
  for (const Block& block : blocks) begins.push_back(&block);
  std::vector<const Block*> ends = begins;
  std::sort(begins.begin(), begins.end(), [](const Block* a, const Block* b) {
    return a->life.first < b->life.first;
  });
  std::sort(ends.begin(), ends.end(), [](const Block* a, const Block* b) {
    return a->life.last < b->life.last;
  });
  std::map<int64_t, const Block*> alive;  // by offset
  size_t ended = 0;
  for (const Block* block : begins) {
    for (; ends[ended]->life.last < block->life.first; ++ended) {
      alive.erase(ends[ended]->offset);
    }
    const auto after = alive.lower_bound(block->offset);
    const Block* other = nullptr;
    if (after != alive.end() && after->first < block->offset + block->bytes) {
      other = after->second;
    } else if (after != alive.begin()) {
      const Block* before = std::prev(after)->second;
      if (before->offset + before->bytes > block->offset) other = before;
    }
    if (other != nullptr) {
      return absl::InternalError(
          absl::StrCat(block->Name(plan), " overlaps ", other->Name(plan)));
    }
    alive.emplace(block->offset, block);
  }
  return absl::OkStatus();
}

int64_t MostLive(const std::vector<Block>& blocks, size_t steps) {
  std::vector<int64_t> change(steps + 1);
  for (const Block& block : blocks) {
    if (block.buffer == kNoBuffer) continue;
    change[static_cast<size_t>(block.life.first)] += block.bytes;
    change[static_cast<size_t>(block.life.last) + 1] -= block.bytes;
  }
  int64_t live = 0;
  int64_t most = 0;
  for (const int64_t bytes : change) most = std::max(most, live += bytes);
  return most;
}

}  // namespace

absl::Status AssignMemory(Plan& plan) {
  REPRISE_RETURN_IF_ERROR(CheckForm(plan));
  std::vector<Block> blocks = Blocks(plan);
  plan.live_bytes = MostLive(blocks, plan.steps.size());
  std::stable_sort(
      blocks.begin(), blocks.end(),
      [](const Block& a, const Block& b) { return a.bytes > b.bytes; });

  plan.arena_bytes = 0;
  PlacedBlocks placed(plan.steps.size());
  for (Block& block : blocks) {
    block.offset = BestGap(placed.AliveWith(block.life), block.bytes);
    placed.Add(block);
    plan.arena_bytes = std::max(plan.arena_bytes, block.offset + block.bytes);
    if (block.buffer != kNoBuffer) {
      plan.buffers[block.buffer].offset = block.offset;
    } else {
      plan.steps[block.step].scratch_offset = block.offset;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPlan(const Plan& plan) {
  REPRISE_RETURN_IF_ERROR(CheckForm(plan));
  const std::vector<Block> blocks = Blocks(plan);
  for (const Block& block : blocks) {
    if (block.offset < 0 || block.offset % kArenaAlignment != 0 ||
        block.offset + block.bytes > plan.arena_bytes) {
      return absl::InternalError(absl::StrCat(
          block.Name(plan), " lies at ", block.offset, ", ", block.bytes,
          " bytes, in an arena of ", plan.arena_bytes));
    }
  }
  return CheckOverlaps(plan, blocks);
}

}  // namespace reprise::plan
