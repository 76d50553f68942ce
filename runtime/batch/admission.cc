#include "runtime/batch/admission.h"

#include <cstddef>

#include "runtime/batch/policy.h"

namespace reprise {

absl::Duration EstimatedWait(const AdmissionView& view) {
  const Capacity capacity = CapacityAt(view.ladder, view.slo);
  return view.device_busy +
         absl::Seconds(static_cast<double>(view.rows_ahead) /
                       capacity.rows_per_second) +
         DueTime(view.ladder[static_cast<size_t>(capacity.rung)]);
}

Admission Admit(const AdmissionView& view, int rows, absl::Time deadline,
                absl::Time now) {
  if (!view.slo.has_value()) return Admission::kAdmitted;
  for (const Rung& rung : view.ladder) {
    if (rung.rows < rows) continue;
    if (now + DueTime(rung) > deadline) return Admission::kTooLate;
    break;
  }
  const Capacity capacity = CapacityAt(view.ladder, view.slo);
  const bool growing = view.arrival_rate >= capacity.rows_per_second;
  if (growing && now + EstimatedWait(view) > deadline) {
    return Admission::kOverloaded;
  }
  return Admission::kAdmitted;
}

}  // namespace reprise
