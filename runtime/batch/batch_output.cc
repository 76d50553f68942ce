#include "runtime/batch/batch_output.h"

namespace reprise {

std::span<const std::byte> BatchOutput::bytes(int k) const {
  const TensorSpec& spec = result_->signature().outputs[static_cast<size_t>(k)];
  size_t row_bytes = ElementSize(spec.dtype);
  for (const int64_t dim : spec.dims) row_bytes *= static_cast<size_t>(dim);
  return result_->output(k).subspan(static_cast<size_t>(first_row_) * row_bytes,
                                    static_cast<size_t>(rows_) * row_bytes);
}

}  // namespace reprise
