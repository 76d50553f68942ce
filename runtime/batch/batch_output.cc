#include "runtime/batch/batch_output.h"

#include "runtime/batch/assemble.h"

namespace reprise {

std::span<const std::byte> BatchOutput::bytes(int k) const {
  const TensorSpec& spec = result_->signature().outputs[static_cast<size_t>(k)];
  const size_t row_bytes = RowBytes(spec);
  return result_->output(k).subspan(static_cast<size_t>(first_row_) * row_bytes,
                                    static_cast<size_t>(rows_) * row_bytes);
}

}  // namespace reprise
