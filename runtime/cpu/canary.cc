#include "runtime/cpu/canary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/float16.h"
#include "runtime/tensor/string_ref.h"

namespace reprise::cpu {
namespace {

using Bytes = std::vector<std::byte>;

// A number in [0, 1) that looks random but is the same in every run.
double Noise(uint64_t seed) {
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((seed ^ (seed >> 31)) >> 11) * 0x1p-53;
}

template <typename T>
void Put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

void PutElement(DType dtype, std::byte* at, double noise, double magnitude) {
  const double real = (noise * 2 - 1) * magnitude;
  const auto small =
      static_cast<uint64_t>(noise * 3);  // an index into anything
  switch (dtype) {
    case DType::kFp32:
      return Put(at, static_cast<float>(real));
    case DType::kFp64:
      return Put(at, real);
    case DType::kFp16:
      return Put(at, Half(static_cast<float>(real)));
    case DType::kBf16:
      return Put(at, BFloat16(static_cast<float>(real)));
    case DType::kBool:
      return Put(at, static_cast<uint8_t>(small & 1));
    case DType::kString: {
      static constexpr char kText[] = "abc";
      return Put(at, StringRef{kText, small + 1});
    }
    default:
      std::memset(at, 0, ElementSize(dtype));
      Put(at, static_cast<uint8_t>(small));  // little-endian
  }
}

void PoisonElement(DType dtype, std::byte* at) {
  switch (dtype) {
    case DType::kFp32:
      return Put(at, std::numeric_limits<float>::quiet_NaN());
    case DType::kFp64:
      return Put(at, std::numeric_limits<double>::quiet_NaN());
    case DType::kFp16:
      return Put(at, Half(std::numeric_limits<float>::quiet_NaN()));
    case DType::kBf16:
      return Put(at, BFloat16(std::numeric_limits<float>::quiet_NaN()));
    case DType::kBool:
      return Put(at, uint8_t{1});
    case DType::kString:
      return Put(at, StringRef{"", 0});
    default:
      std::memset(at, 0xff, ElementSize(dtype));
      if (dtype >= DType::kInt8 && dtype <= DType::kInt64) {
        at[ElementSize(dtype) - 1] = std::byte{0x7f};
      }
  }
}

double Real(DType dtype, const std::byte* at) {
  const auto get = [at]<typename T>(T value) {
    std::memcpy(&value, at, sizeof(value));
    return static_cast<double>(value);
  };
  switch (dtype) {
    case DType::kFp64:
      return get(double{});
    case DType::kFp16: {
      Half value;
      std::memcpy(&value, at, sizeof(value));
      return static_cast<double>(static_cast<float>(value));
    }
    case DType::kBf16: {
      BFloat16 value;
      std::memcpy(&value, at, sizeof(value));
      return static_cast<double>(static_cast<float>(value));
    }
    default:
      return get(float{});
  }
}

// How far two rungs may differ, of the row's largest value.
double Tolerance(DType dtype) {
  return dtype == DType::kFp16 || dtype == DType::kBf16 ? 3e-2 : 1e-3;
}

// Repeats the first `period` bytes of `at` until `bytes` are filled.
void Repeat(std::byte* at, size_t period, size_t bytes) {
  for (size_t filled = std::min(period, bytes); filled < bytes;) {
    const size_t n = std::min(filled, bytes - filled);
    std::memcpy(at + filled, at, n);
    filled += n;
  }
}

// A row's values repeat after this many elements, a prime: a row of many
// megabytes is then filled by copies.
constexpr size_t kPeriod = 4093;

// Row `as` of the slot becomes the row known as `row`.
void FillRow(const Signature& signature, CpuSlot& slot, int as, int row) {
  // The first row is the smallest: what depends on a maximum shows.
  const double magnitude = row == 0 ? 0.5 : 2.0 + row % 3;
  for (size_t k = 0; k < signature.inputs.size(); ++k) {
    const DType dtype = signature.inputs[k].dtype;
    const size_t size = ElementSize(dtype);
    const size_t bytes = slot.layout().inputs[k].row_bytes;
    std::byte* at = slot.buffers().inputs[k] + static_cast<size_t>(as) * bytes;
    const uint64_t seed = (static_cast<uint64_t>(row) << 40) + (k << 32);
    for (size_t i = 0; i < kPeriod && i * size < bytes; ++i) {
      PutElement(dtype, at + i * size, Noise(seed + i), magnitude);
    }
    Repeat(at, kPeriod * size, bytes);
  }
}

class Canary {
 public:
  explicit Canary(const CanaryRun& canary) : c_(canary) {}

  absl::Status Check() {
    REPRISE_RETURN_IF_ERROR(KeepAlone());
    for (size_t i = c_.rungs.size(); i-- > 0;) {
      REPRISE_RETURN_IF_ERROR(CheckRung(i));
    }
    return absl::OkStatus();
  }

 private:
  int largest() const { return c_.rungs.back(); }

  void Fill(int as, int row) { FillRow(c_.signature, c_.slot, as, row); }

  void PoisonRow(int row) {
    for (size_t k = 0; k < c_.signature.inputs.size(); ++k) {
      const DType dtype = c_.signature.inputs[k].dtype;
      const size_t bytes = c_.slot.layout().inputs[k].row_bytes;
      std::byte* at = c_.slot.buffers().inputs[k] + row * bytes;
      if (bytes == 0) continue;
      PoisonElement(dtype, at);
      Repeat(at, ElementSize(dtype), bytes);
    }
  }

  std::vector<Bytes> OutputRow(int row) {
    std::vector<Bytes> outputs;
    for (size_t k = 0; k < c_.signature.outputs.size(); ++k) {
      const size_t bytes = c_.slot.layout().outputs[k].row_bytes;
      const std::byte* at = c_.slot.buffers().outputs[k] + row * bytes;
      outputs.emplace_back(at, at + bytes);
    }
    return outputs;
  }

  // What the first rows and the last are in the smallest rung, every row of
  // which is the same one.
  absl::Status KeepAlone() {
    for (const int row : {0, 1, largest() - 1}) {
      for (int as = 0; as < c_.rungs[0]; ++as) Fill(as, row);
      REPRISE_RETURN_IF_ERROR(c_.run(0));
      alone_.push_back(OutputRow(0));
    }
    return absl::OkStatus();
  }

  absl::Status CheckRung(size_t rung) {
    const int rows = c_.rungs[rung];
    if (rows == 1) return absl::OkStatus();
    for (int row = 0; row + 1 < rows; ++row) Fill(row, row);
    Fill(rows - 1, rows == 2 ? 1 : largest() - 1);
    REPRISE_RETURN_IF_ERROR(c_.run(rung));
    REPRISE_RETURN_IF_ERROR(Compare(0, rows, alone_[0]));
    REPRISE_RETURN_IF_ERROR(Compare(1, rows, alone_[1]));
    if (rows > 2) REPRISE_RETURN_IF_ERROR(Compare(rows - 1, rows, alone_[2]));
    for (int row = 1; row < rows; ++row) PoisonRow(row);
    REPRISE_RETURN_IF_ERROR(c_.run(rung));
    return Compare(0, rows, alone_[0]);
  }

  absl::Status Compare(int row, int rows, const std::vector<Bytes>& expected) {
    const std::vector<Bytes> actual = OutputRow(row);
    for (size_t k = 0; k < actual.size(); ++k) {
      const std::string difference =
          Difference(c_.signature.outputs[k].dtype, actual[k], expected[k]);
      if (difference.empty()) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "rows are not independent: row ", row, " of output '",
          c_.signature.outputs[k].name, "' is ", difference, " among ", rows,
          " rows and alone; serve the model with max_batch_size 0"));
    }
    return absl::OkStatus();
  }

  // Empty if they agree.
  static std::string Difference(DType dtype, const Bytes& actual,
                                const Bytes& expected) {
    if (actual == expected) return "";
    if (!IsFloat(dtype)) return "made of different values";
    const size_t size = ElementSize(dtype);
    double scale = 0;
    for (size_t i = 0; i < expected.size(); i += size) {
      const double value = std::abs(Real(dtype, &expected[i]));
      if (std::isfinite(value)) scale = std::max(scale, value);
    }
    for (size_t i = 0; i < expected.size(); i += size) {
      const double a = Real(dtype, &actual[i]);
      const double b = Real(dtype, &expected[i]);
      const bool same = a == b || (std::isnan(a) && std::isnan(b));
      if (!same && !(std::abs(a - b) <= Tolerance(dtype) * scale)) {
        return absl::StrCat(a, " and ", b, " at element ", i / size);
      }
    }
    return "";
  }

  const CanaryRun& c_;
  std::vector<std::vector<Bytes>> alone_;  // of row 0, row 1, the last row
};

}  // namespace

void FillWithSamples(const Signature& signature, int rows, CpuSlot& slot) {
  for (int row = 0; row < rows; ++row) FillRow(signature, slot, row, row);
}

absl::Status CheckRowsIndependent(const CanaryRun& canary) {
  if (!canary.signature.batched || canary.rungs.back() == 1) {
    return absl::OkStatus();
  }
  return Canary(canary).Check();
}

}  // namespace reprise::cpu
