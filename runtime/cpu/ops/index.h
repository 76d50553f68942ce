// Indices that a model computes: they may count from the end, or miss.
#pragma once

#include <cstdint>

namespace reprise::cpu {

// `index` counted from the front, or -1 if it is outside [-extent, extent).
inline int64_t FromFront(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? index : -1;
}

}  // namespace reprise::cpu
