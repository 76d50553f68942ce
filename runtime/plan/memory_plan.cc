#include "runtime/plan/memory_plan.h"

#include <algorithm>
#include <limits>
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

bool Overlap(const Block& a, const Block& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

absl::Status AssignMemory(Plan& plan) {
  REPRISE_RETURN_IF_ERROR(CheckForm(plan));
  std::vector<Block> blocks = Blocks(plan);
  std::stable_sort(
      blocks.begin(), blocks.end(),
      [](const Block& a, const Block& b) { return a.bytes > b.bytes; });

  plan.arena_bytes = 0;
  std::vector<const Block*> by_offset;  // all that have an offset
  for (Block& block : blocks) {
    std::vector<const Block*> alive;
    for (const Block* other : by_offset) {
      if (other->life.Overlaps(block.life)) alive.push_back(other);
    }
    block.offset = BestGap(alive, block.bytes);
    by_offset.insert(
        std::upper_bound(by_offset.begin(), by_offset.end(), &block,
                         [](const Block* a, const Block* b) {
                           return a->offset < b->offset;
                         }),
        &block);
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
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block& a = blocks[i];
    if (a.offset < 0 || a.offset % kArenaAlignment != 0 ||
        a.offset + a.bytes > plan.arena_bytes) {
      return absl::InternalError(
          absl::StrCat(a.Name(plan), " lies at ", a.offset, ", ", a.bytes,
                       " bytes, in an arena of ", plan.arena_bytes));
    }
    for (size_t j = 0; j < i; ++j) {
      if (a.life.Overlaps(blocks[j].life) && Overlap(a, blocks[j])) {
        return absl::InternalError(
            absl::StrCat(a.Name(plan), " overlaps ", blocks[j].Name(plan)));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace reprise::plan
