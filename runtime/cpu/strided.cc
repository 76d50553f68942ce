#include "runtime/cpu/strided.h"

namespace reprise::cpu {

StridedLoop MakeLoop(std::span<const int64_t> dims,
                     std::span<const Dims> strides) {
  StridedLoop loop;
  loop.operands = static_cast<int>(strides.size());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 0) loop.empty = true;
    if (dims[axis] == 1) continue;
    const int last = loop.axes - 1;
    bool merge = last >= 0;
    for (int k = 0; merge && k < loop.operands; ++k) {
      merge = loop.strides[k][last] == strides[k][axis] * dims[axis];
    }
    const int at = merge ? last : loop.axes++;
    loop.dims[at] = merge ? loop.dims[at] * dims[axis] : dims[axis];
    for (int k = 0; k < loop.operands; ++k) {
      loop.strides[k][at] = strides[k][axis];
    }
  }
  if (loop.axes == 0) {  // one element
    loop.axes = 1;
    loop.dims[0] = 1;
  }
  return loop;
}

Dims BroadcastStrides(std::span<const int64_t> dims,
                      std::span<const int64_t> out) {
  Dims strides(out.size(), 0);
  const size_t lead = out.size() - dims.size();
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[lead + i] = dims[i] == 1 ? 0 : stride;
    stride *= dims[i];
  }
  return strides;
}

bool NextRow(const StridedLoop& loop, RowCursor& cursor) {
  for (int axis = loop.axes - 2; axis >= 0; --axis) {
    if (++cursor.index[axis] < loop.dims[axis]) {
      for (int k = 0; k < loop.operands; ++k) {
        cursor.at[k] += loop.strides[k][axis];
      }
      return true;
    }
    for (int k = 0; k < loop.operands; ++k) {
      cursor.at[k] -= loop.strides[k][axis] * (loop.dims[axis] - 1);
    }
    cursor.index[axis] = 0;
  }
  return false;
}

}  // namespace reprise::cpu
