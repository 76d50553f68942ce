#include "runtime/prepare/canary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/float16.h"
#include "runtime/tensor/string_ref.h"

namespace reprise {
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

// What integers are made of.
enum class Integers {
  kSmall,  // 0, 1 and 2: an index into anything
  kMixed,  // every other one is larger, so that a division does not hide it
};

int64_t IntegerOf(DType dtype, double noise, Integers integers) {
  const auto sixth = static_cast<int64_t>(noise * 6);
  if (integers == Integers::kSmall || sixth < 3) return sixth % 3;
  return static_cast<int64_t>(noise * (ElementSize(dtype) == 1 ? 100 : 10'000));
}

void PutElement(DType dtype, std::byte* at, double noise, double magnitude,
                Integers integers) {
  const double real = (noise * 2 - 1) * magnitude;
  const auto small = static_cast<uint64_t>(noise * 3);
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
    default: {
      const int64_t value = IntegerOf(dtype, noise, integers);
      std::memcpy(at, &value, ElementSize(dtype));  // little-endian
    }
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

// How far a rung may differ from itself, of the row's largest value: it adds in
// the same order, whatever the other rows hold.
constexpr double kSameRung = 1e-5;

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

// Row `as` of the inputs becomes the row known as `row`.
void FillRow(const Signature& signature, std::span<const TensorRows> inputs,
             int as, int row, Integers integers) {
  // The first row is the smallest: what depends on a maximum shows.
  const double magnitude = row == 0 ? 0.5 : 2.0 + row % 3;
  for (size_t k = 0; k < signature.inputs.size(); ++k) {
    const DType dtype = signature.inputs[k].dtype;
    const size_t size = ElementSize(dtype);
    const size_t bytes = inputs[k].row_bytes;
    std::byte* at = inputs[k].data + static_cast<size_t>(as) * bytes;
    const uint64_t seed = (static_cast<uint64_t>(row) << 40) + (k << 32);
    for (size_t i = 0; i < kPeriod && i * size < bytes; ++i) {
      PutElement(dtype, at + i * size, Noise(seed + i), magnitude, integers);
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

  void Fill(int as, int row) {
    FillRow(c_.signature, c_.inputs, as, row, Integers::kMixed);
  }

  void PoisonRow(int row) {
    for (size_t k = 0; k < c_.signature.inputs.size(); ++k) {
      const DType dtype = c_.signature.inputs[k].dtype;
      const size_t bytes = c_.inputs[k].row_bytes;
      std::byte* at = c_.inputs[k].data + static_cast<size_t>(row) * bytes;
      if (bytes == 0) continue;
      PoisonElement(dtype, at);
      Repeat(at, ElementSize(dtype), bytes);
    }
  }

  std::vector<Bytes> OutputRow(int row) {
    std::vector<Bytes> outputs;
    for (size_t k = 0; k < c_.signature.outputs.size(); ++k) {
      const size_t bytes = c_.outputs[k].row_bytes;
      const std::byte* at =
          c_.outputs[k].data + static_cast<size_t>(row) * bytes;
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

  // Row `row` of a rung of `rows`: its last one is the largest rung's.
  void FillOf(int rows, int row) {
    const bool last = row == rows - 1 && rows > 2;
    Fill(row, last ? largest() - 1 : row);
  }

  absl::Status CheckRung(size_t rung) {
    const int rows = c_.rungs[rung];
    if (rows == 1) return absl::OkStatus();
    for (int row = 0; row < rows; ++row) FillOf(rows, row);
    REPRISE_RETURN_IF_ERROR(c_.run(rung));
    REPRISE_RETURN_IF_ERROR(CompareAlone(0, rows, alone_[0]));
    REPRISE_RETURN_IF_ERROR(CompareAlone(1, rows, alone_[1]));
    if (rows > 2) {
      REPRISE_RETURN_IF_ERROR(CompareAlone(rows - 1, rows, alone_[2]));
    }
    return CheckPoison(rung, rows);
  }

  // The rung has run with clean rows. A leak between two rows reaches the first
  // or the last as a rule; of the largest rung, neighbours are asked too.
  absl::Status CheckPoison(size_t rung, int rows) {
    const int last = rows - 1;
    const int middle = rows / 4 * 2;
    const std::vector<int> even = {0, middle, last - last % 2};
    const std::vector<int> odd = {1, middle + 1, last - (last + 1) % 2};
    clean_.clear();
    for (const auto& some : {even, odd, {last}}) {
      for (const int row : some) clean_.emplace(row, OutputRow(row));
    }
    if (rows > 2) {
      REPRISE_RETURN_IF_ERROR(RunPoisoned(
          rung, [&](int row) { return row == 0 || row == last; }, {0, last}));
      if (rows != largest()) return absl::OkStatus();
    }
    REPRISE_RETURN_IF_ERROR(RunPoisoned(
        rung, [](int row) { return row % 2 == 0; }, even));
    return RunPoisoned(
        rung, [](int row) { return row % 2 == 1; }, odd);
  }

  // Runs with all rows poisoned but those to `keep`; `looked_at` are of these.
  absl::Status RunPoisoned(size_t rung, absl::FunctionRef<bool(int)> keep,
                           const std::vector<int>& looked_at) {
    const int rows = c_.rungs[rung];
    for (int row = 0; row < rows; ++row) {
      if (keep(row)) {
        FillOf(rows, row);
      } else {
        PoisonRow(row);
      }
    }
    REPRISE_RETURN_IF_ERROR(c_.run(rung));
    for (const int row : looked_at) {
      REPRISE_RETURN_IF_ERROR(Compare(row, rows, clean_.at(row), kSameRung,
                                      "with and without poison in others"));
    }
    return absl::OkStatus();
  }

  absl::Status CompareAlone(int row, int rows,
                            const std::vector<Bytes>& expected) {
    return Compare(row, rows, expected, c_.between_rungs, "and alone");
  }

  // A tolerance of 0 is what is usual between two rungs.
  absl::Status Compare(int row, int rows, const std::vector<Bytes>& expected,
                       double tolerance, absl::string_view where) {
    const std::vector<Bytes> actual = OutputRow(row);
    for (size_t k = 0; k < actual.size(); ++k) {
      const DType dtype = c_.signature.outputs[k].dtype;
      const std::string difference =
          Difference(dtype, actual[k], expected[k],
                     tolerance > 0 ? tolerance : Tolerance(dtype));
      if (difference.empty()) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "rows are not independent: row ", row, " of output '",
          c_.signature.outputs[k].name, "' is ", difference, " among ", rows,
          " rows ", where, "; serve the model with max_batch_size 0"));
    }
    return absl::OkStatus();
  }

  const CanaryRun& c_;
  std::vector<std::vector<Bytes>> alone_;    // of row 0, row 1, the last row
  std::map<int, std::vector<Bytes>> clean_;  // of the rung that is checked
};

}  // namespace

std::string Difference(DType dtype, std::span<const std::byte> actual,
                       std::span<const std::byte> expected, double tolerance) {
  const size_t size = ElementSize(dtype);
  if (actual.size() != expected.size()) return "of another size";
  if (std::equal(actual.begin(), actual.end(), expected.begin())) return "";
  if (!IsFloat(dtype)) return "made of different values";
  double scale = 0;
  for (size_t i = 0; i < expected.size(); i += size) {
    const double value = std::abs(Real(dtype, &expected[i]));
    if (std::isfinite(value)) scale = std::max(scale, value);
  }
  for (size_t i = 0; i < expected.size(); i += size) {
    const double a = Real(dtype, &actual[i]);
    const double b = Real(dtype, &expected[i]);
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (!same && !(std::abs(a - b) <= tolerance * scale)) {
      return absl::StrCat(a, " and ", b, " at element ", i / size);
    }
  }
  return "";
}

void FillWithSamples(const Signature& signature, int rows,
                     std::span<const TensorRows> inputs) {
  for (int row = 0; row < rows; ++row) {
    FillRow(signature, inputs, row, row, Integers::kSmall);
  }
}

absl::Status CheckRowsIndependent(const CanaryRun& canary) {
  if (!canary.signature.batched || canary.rungs.back() == 1) {
    return absl::OkStatus();
  }
  return Canary(canary).Check();
}

}  // namespace reprise
