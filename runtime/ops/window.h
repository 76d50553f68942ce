// The sliding window that convolutions and poolings share.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ops/node_view.h"
#include "runtime/tensor/shape.h"

namespace reprise::ops {

// One entry per spatial axis. `out` is the output's extent; pads are what
// auto_pad or the attribute says. With ceil_mode the last window may reach
// beyond pads_end: what lies there is padding too.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads_begin;
  std::vector<int64_t> pads_end;
  std::vector<int64_t> out;
};

// Reads strides, dilations, pads and auto_pad of `view` for `input` (the
// spatial dims) and a known `kernel`. INVALID_ARGUMENT: lists of different
// lengths, values that are not positive, negative pads, a kernel larger than
// its input.
absl::StatusOr<Window> ReadWindow(const NodeView& view,
                                  const std::vector<int64_t>& input,
                                  std::vector<int64_t> kernel, bool ceil_mode);

}  // namespace reprise::ops
