#include "runtime/cpu/ops/axis_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/convert.h"

namespace reprise::cpu {
namespace {

// Offsets in the input instead of indices. Trailing axes that show the input as
// it is are one block of elements that lie together.
struct Tables {
  std::vector<std::vector<int64_t>> offsets;
  int64_t block = 1;
  // The longest part of the last axis that lies together in the input, as a
  // padded row does: `run` elements after `head` others.
  int64_t head = 0;
  int64_t run = 0;
};

bool ShowsAll(const std::vector<int64_t>& sources, int64_t extent) {
  if (static_cast<int64_t>(sources.size()) != extent) return false;
  for (int64_t i = 0; i < extent; ++i) {
    if (sources[i] != i) return false;
  }
  return true;
}

void FindRun(Tables& tables) {
  const std::vector<int64_t>& offsets = tables.offsets.back();
  for (size_t start = 0; start < offsets.size();) {
    size_t end = start + 1;
    while (end < offsets.size() && offsets[start] != kFillIndex &&
           offsets[end] == offsets[end - 1] + tables.block) {
      ++end;
    }
    const auto length = static_cast<int64_t>(end - start);
    if (length > tables.run && offsets[start] != kFillIndex) {
      tables.head = static_cast<int64_t>(start);
      tables.run = length;
    }
    start = end;
  }
}

Tables MakeTables(const Dims& in, AxisSources sources) {
  Tables tables;
  size_t axes = in.size();
  while (axes > 0 && ShowsAll(sources[axes - 1], in[axes - 1])) {
    tables.block *= in[--axes];
  }
  const Dims strides = Strides(in);
  for (size_t axis = 0; axis < axes; ++axis) {
    for (int64_t& source : sources[axis]) {
      if (source != kFillIndex) source *= strides[axis];
    }
    tables.offsets.push_back(std::move(sources[axis]));
  }
  if (axes > 0) FindRun(tables);
  return tables;
}

// The last axis: elements (or blocks) one after the other.
template <typename T>
T* WalkLast(const Tables& tables, int64_t at, const T* from, T fill, T* to) {
  const std::vector<int64_t>& offsets = tables.offsets.back();
  const auto n = static_cast<int64_t>(offsets.size());
  if (at == kFillIndex) return std::fill_n(to, n * tables.block, fill);
  from += at;
  if (tables.block == 1) {
    for (int64_t i = 0; i < tables.head; ++i) {
      to[i] = offsets[i] == kFillIndex ? fill : from[offsets[i]];
    }
    // What lies together is copied together.
    if (tables.run > 0) {
      std::copy_n(from + offsets[tables.head], tables.run, to + tables.head);
    }
    for (int64_t i = tables.head + tables.run; i < n; ++i) {
      to[i] = offsets[i] == kFillIndex ? fill : from[offsets[i]];
    }
    return to + n;
  }
  for (const int64_t offset : offsets) {
    to = offset == kFillIndex ? std::fill_n(to, tables.block, fill)
                              : std::copy_n(from + offset, tables.block, to);
  }
  return to;
}

// Writes the part of `to` below the axes before `axis`, whose offset in the
// input is `at`, or kFillIndex; returns what follows it.
template <typename T>
T* Walk(const Tables& tables, size_t axis, int64_t at, const T* from, T fill,
        T* to) {
  if (tables.offsets.empty()) return std::copy_n(from, tables.block, to);
  if (axis + 1 == tables.offsets.size()) {
    return WalkLast(tables, at, from, fill, to);
  }
  for (const int64_t offset : tables.offsets[axis]) {
    const bool filled = at == kFillIndex || offset == kFillIndex;
    to = Walk(tables, axis + 1, filled ? kFillIndex : at + offset, from, fill,
              to);
  }
  return to;
}

}  // namespace

absl::Status TakeTable(const KernelRequest& request, int64_t entries) {
  constexpr int64_t kMaxEntries = int64_t{1} << 26;
  if (entries > kMaxEntries) {
    return absl::ResourceExhaustedError(
        absl::StrCat("an axis of ", entries, " elements is too large"));
  }
  if (request.tables == nullptr) return absl::OkStatus();
  return request.tables->Take(entries * int64_t{sizeof(int64_t)});
}

absl::StatusOr<Kernel> TableKernel(DType dtype, const Dims& in,
                                   AxisSources sources, Fill fill) {
  if (dtype == DType::kString) return ops::NotRunHere("not run for BYTES");
  uint64_t bits = 0;
  Converter(DType::kFp64, dtype)
      .Gather(reinterpret_cast<const std::byte*>(&fill.value), 1,
              reinterpret_cast<std::byte*>(&bits), 1);
  auto tables =
      std::make_shared<const Tables>(MakeTables(in, std::move(sources)));
  return VisitBytes(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    T value{};
    if constexpr (sizeof(T) <= sizeof(bits)) {
      std::memcpy(&value, &bits, sizeof(T));
    }
    return Kernel{[tables, value, input = fill.input](const KernelArgs& args) {
      const T filled =
          input < 0 ? value : *args.in<T>(static_cast<size_t>(input));
      Walk(*tables, 0, 0, args.in<T>(0), filled, args.out<T>(0));
    }};
  });
}

}  // namespace reprise::cpu
