// Lives and scratch to offsets in an arena.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/plan/plan.h"

namespace reprise::plan {

// Every offset and size in the arena is a multiple of this many bytes.
inline constexpr int64_t kArenaAlignment = 64;

// Sets `offset` of every arena buffer that is used, `scratch_offset` of every
// step that has scratch, and `arena_bytes`. Largest first, each into the
// smallest gap between what lives at the same time. Views share the bytes of
// their root.
// INTERNAL if the plan is not well formed (see CheckPlan).
absl::Status AssignMemory(Plan& plan);

// What must hold of a plan before it runs: ids in range, no circle of aliases,
// views no larger than what they look at, every arena buffer written before it
// is read, no step writing a slot input or a constant, and no two things that
// live at the same time overlapping in the arena, scratch included. INTERNAL
// names the step or the two buffers.
absl::Status CheckPlan(const Plan& plan);

}  // namespace reprise::plan
