#include "runtime/plan/plan.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace reprise::plan {
namespace {

std::string PlaceText(const Plan& plan, const Buffer& buffer) {
  if (buffer.alias != kNoBuffer) {
    return absl::StrCat("view of ", plan.buffers[buffer.alias].name);
  }
  switch (buffer.place) {
    case Place::kArena:
      return absl::StrCat("arena+", buffer.offset);
    case Place::kInput:
      return absl::StrCat("slot input ", buffer.index);
    case Place::kOutput:
      return absl::StrCat("slot output ", buffer.index);
    case Place::kConstant:
      return "constant";
  }
  return "";
}

std::string Names(const Plan& plan, const std::vector<BufferId>& ids) {
  return absl::StrJoin(ids, ", ", [&](std::string* out, BufferId id) {
    absl::StrAppend(out, id == kNoBuffer
                             ? absl::string_view("-")
                             : absl::string_view(plan.buffers[id].name));
  });
}

}  // namespace

BufferId Root(const Plan& plan, BufferId id) {
  while (plan.buffers[id].alias != kNoBuffer) id = plan.buffers[id].alias;
  return id;
}

std::string PlanText(const Plan& plan) {
  std::string text = absl::StrCat("arena ", plan.arena_bytes, " bytes\n");
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    absl::StrAppend(&text, "step ", i, " ", step.name, "(",
                    Names(plan, step.reads), ") -> ", Names(plan, step.writes));
    if (step.scratch_bytes > 0) {
      absl::StrAppend(&text, " scratch ", step.scratch_bytes, " at arena+",
                      step.scratch_offset);
    }
    absl::StrAppend(&text, "\n");
  }
  for (const Buffer& buffer : plan.buffers) {
    absl::StrAppend(&text, "buffer ", buffer.name, " ", buffer.bytes,
                    " bytes: ", PlaceText(plan, buffer), "\n");
  }
  return text;
}

}  // namespace reprise::plan
