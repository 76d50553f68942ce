#include "runtime/cuda/context.h"

#include <utility>

#include "absl/memory/memory.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace reprise::cuda {

absl::StatusOr<std::unique_ptr<PrimaryContext>> PrimaryContext::Retain(
    const Driver& driver, CUdevice device) {
  CUcontext context = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.DevicePrimaryCtxRetain(&context, device),
               "cuDevicePrimaryCtxRetain"));
  return absl::WrapUnique(new PrimaryContext(driver, device, context));
}

PrimaryContext::~PrimaryContext() {
  const absl::Status status =
      ToStatus(driver_, driver_.DevicePrimaryCtxRelease(device_),
               "cuDevicePrimaryCtxRelease");
  if (!status.ok()) LogError(status.message());
}

absl::StatusOr<CurrentContext> CurrentContext::Enter(
    const PrimaryContext& context) {
  const Driver& driver = context.driver();
  CUcontext before = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.CtxGetCurrent(&before), "cuCtxGetCurrent"));
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver, driver.CtxSetCurrent(context.get()), "cuCtxSetCurrent"));
  return CurrentContext(context, before);
}

CurrentContext::CurrentContext(CurrentContext&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      before_(other.before_) {}

CurrentContext::~CurrentContext() {
  if (context_ == nullptr) return;
  const absl::Status status =
      ToStatus(driver(), driver().CtxSetCurrent(before_), "cuCtxSetCurrent");
  if (!status.ok()) LogError(status.message());
}

}  // namespace reprise::cuda
