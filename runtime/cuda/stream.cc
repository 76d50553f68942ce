#include "runtime/cuda/stream.h"

#include "runtime/base/status_macros.h"

namespace reprise::cuda {

absl::StatusOr<UniqueStream> MakeStream(const CurrentContext& current) {
  const Driver& driver = current.driver();
  CUstream stream = nullptr;
  REPRISE_RETURN_IF_ERROR(
      ToStatus(driver,
               driver.StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING,
                                               /*priority=*/0),
               "cuStreamCreateWithPriority"));
  return UniqueStream(stream, driver.StreamDestroy);
}

}  // namespace reprise::cuda
