#include "runtime/worker/batch_run.h"

#include <algorithm>
#include <utility>

namespace reprise {

void BatchRun::Begin(Variant& of, Executable& on, SlotLease lease,
                     int on_lane) {
  variant = &of;
  executable = &on;
  slot = std::move(lease);
  lane = on_lane;
  rows = 0;
  counted_rows = 0;
  result = absl::OkStatus();
  may_hold = false;
  state = BatchState::kGathering;
  members.clear();
  buffers.clear();
  const Signature& shape = on.signature();
  for (size_t k = 0; k < shape.inputs.size(); ++k) {
    buffers.push_back({.bytes = slot->input(static_cast<int>(k)),
                       .row_bytes = RowBytes(shape.inputs[k])});
  }
  shares_.store(1, std::memory_order_relaxed);
}

void BatchRun::Join(const Waiting& waiting) {
  Member member;
  member.waiting = waiting;
  member.first_row = rows;
  members.push_back(std::move(member));
  rows += waiting.rows;
}

int BatchRun::live_members() const {
  return static_cast<int>(
      std::count_if(members.begin(), members.end(),
                    [](const Member& member) { return member.live; }));
}

int BatchRun::live_rows() const {
  int end = 0;
  for (const Member& member : members) {
    if (member.live) end = member.first_row + member.waiting.rows;
  }
  return end;
}

void BatchRun::NoteHoles() {
  holes_.clear();
  bool any_live = false;
  for (const Member& member : members) {
    if (!member.live) {
      holes_.push_back({member.first_row, member.waiting.rows});
    } else if (!std::exchange(any_live, true)) {
      live_row_ = member.first_row;
    }
  }
  if (!any_live) holes_.clear();
}

void BatchRun::PadHoles() {
  for (const Hole& hole : holes_) {
    RepeatRow(buffers, live_row_, hole.first_row, hole.rows);
  }
}

void BatchRun::Unref() {
  if (shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    owner_.Recycle(*this);
  }
}

}  // namespace reprise
