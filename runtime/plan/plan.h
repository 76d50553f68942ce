// What a device runs for one rung: steps in order, and a place for every
// buffer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::plan {

// Index into Plan::buffers; kNoBuffer where an optional operand is left out.
using BufferId = int32_t;
inline constexpr BufferId kNoBuffer = -1;

// Where the bytes of a buffer are.
enum class Place {
  kArena,     // at `offset` from the lane's arena
  kInput,     // the slot's input `index`
  kOutput,    // the slot's output `index`
  kConstant,  // weights and constants: `index` is the lowering's own
};

// A buffer is a value of the graph, or a copy of one in another layout.
// `alias` names the buffer whose bytes it shares, from their first byte on (a
// reshaped view); its own place is then without meaning.
struct Buffer {
  std::string name = {};
  int64_t bytes = 0;
  Place place = Place::kArena;
  int index = 0;
  BufferId alias = kNoBuffer;
  int64_t offset = -1;  // kArena: set by AssignMemory
};

// One call of a kernel. Its scratch lives in the arena while it runs.
struct Step {
  std::string name = {};
  std::vector<BufferId> reads = {};
  std::vector<BufferId> writes = {};
  int64_t scratch_bytes = 0;
  int64_t scratch_offset = -1;  // set by AssignMemory
};

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  // Set by AssignMemory: the arena, and the most that buffers in it (without
  // the scratch of steps) take at the same time, below which no arena can be.
  int64_t arena_bytes = 0;
  int64_t live_bytes = 0;
};

// The buffer at the end of `id`'s chain of aliases: the one that has a place.
BufferId Root(const Plan& plan, BufferId id);

// The plan as text, a line for each step and each buffer, for people and for
// golden tests.
std::string PlanText(const Plan& plan);

}  // namespace reprise::plan
