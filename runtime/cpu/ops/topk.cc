// TopK, by sortable keys: whatever the dtype, a larger element has a larger
// unsigned number.
#include "runtime/ops/topk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/convert.h"
#include "runtime/cpu/ops/families.h"

namespace reprise::cpu {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;

// NaN is above infinity, and -0 is 0.
uint64_t KeyOf(double value) {
  if (std::isnan(value)) return ~uint64_t{0};
  const auto bits = std::bit_cast<uint64_t>(value + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
uint64_t KeyOf(int64_t value) { return static_cast<uint64_t>(value) ^ kSign; }
uint64_t KeyOf(uint64_t value) { return value; }

// An element of the axis: sorted by key, then by position.
struct Entry {
  uint64_t key = 0;
  int64_t index = 0;
  bool operator<(const Entry& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

template <typename T>
void FillKeys(const std::byte* values, int64_t n, uint64_t flip,
              Entry* entries) {
  const T* x = reinterpret_cast<const T*>(values);
  for (int64_t i = 0; i < n; ++i) entries[i].key = KeyOf(x[i]) ^ flip;
}

struct TopK {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
  int64_t k = 0;
  uint64_t flip = 0;  // turns the order around
  DType carrier = DType::kFp64;
  Converter load;

  // The `length` elements that start at `x`, `inner` apart, sorted up to k.
  void Sort(const std::byte* x, Entry* entries) const {
    ChunkBuffer buffer;
    for (int64_t done = 0; done < length;) {
      const int64_t n = std::min(length - done, kChunk);
      const std::byte* from =
          x + done * inner * static_cast<int64_t>(load.from_size());
      const std::byte* values = load.Read(from, inner, n, buffer);
      if (carrier == DType::kFp64) {
        FillKeys<double>(values, n, flip, entries + done);
      } else if (carrier == DType::kInt64) {
        FillKeys<int64_t>(values, n, flip, entries + done);
      } else {
        FillKeys<uint64_t>(values, n, flip, entries + done);
      }
      done += n;
    }
    for (int64_t i = 0; i < length; ++i) entries[i].index = i;
    if (k < length) std::nth_element(entries, entries + k, entries + length);
    std::sort(entries, entries + k);
  }

  void Run(const KernelArgs& args) const {
    auto* entries = reinterpret_cast<Entry*>(args.scratch);
    const size_t size = load.from_size();
    std::byte* values = args.outputs[0];
    int64_t* indices = args.out<int64_t>(1);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const std::byte* x = args.inputs[0] + (o * length * inner + i) *
                                                  static_cast<int64_t>(size);
        Sort(x, entries);
        for (int64_t j = 0; j < k; ++j) {
          const int64_t at = (o * k + j) * inner + i;
          if (indices != nullptr) indices[at] = entries[j].index;
          if (values == nullptr) continue;
          std::memcpy(values + at * static_cast<int64_t>(size),
                      x + entries[j].index * inner * static_cast<int64_t>(size),
                      size);
        }
      }
    }
  }
};

}  // namespace

absl::StatusOr<Kernel> MakeTopK(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::TopKParams params,
                           ops::ReadTopK(request.view));
  const DType dtype = request.view.dtype(0);
  TopK top;
  top.carrier = CarrierOf(dtype);
  top.load = Converter(dtype, top.carrier);
  top.flip = params.largest ? ~uint64_t{0} : 0;
  top.k = params.k;
  for (int64_t i = 0; i < request.view.rank(0); ++i) {
    (i < params.axis    ? top.outer
     : i == params.axis ? top.length
                        : top.inner) *= request.view.dim(0, i);
  }
  Kernel kernel{[top](const KernelArgs& args) { top.Run(args); }};
  kernel.scratch_bytes = top.length * static_cast<int64_t>(sizeof(Entry));
  return kernel;
}

}  // namespace reprise::cpu
