#include "client/bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace reprise::client {
namespace {

// Below 2^kPrecision every value has its own bucket; each further power of two
// is cut into 2^(kPrecision - 1) of them.
constexpr int kPrecision = 8;
constexpr int kHalf = 1 << (kPrecision - 1);
constexpr int kMaxBits = 44;
constexpr int64_t kMaxValue = (int64_t{1} << kMaxBits) - 1;
constexpr int kBuckets = (kMaxBits - kPrecision + 2) * kHalf;

}  // namespace

Histogram::Histogram() : buckets_(kBuckets, 0) {}

int Histogram::Bucket(int64_t ns) {
  const uint64_t value = static_cast<uint64_t>(ns);
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(value)) - kPrecision);
  return shift * kHalf + static_cast<int>(value >> shift);
}

int64_t Histogram::HighestOf(int bucket) {
  const int shift = std::max(0, bucket / kHalf - 1);
  const int64_t top = bucket - int64_t{shift} * kHalf;
  return ((top + 1) << shift) - 1;
}

void Histogram::Record(int64_t ns) {
  const int64_t value = std::clamp<int64_t>(ns, 0, kMaxValue);
  ++buckets_[static_cast<size_t>(Bucket(value))];
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
  ++count_;
}

void Histogram::Clear() { *this = Histogram(); }

double Histogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

int64_t Histogram::Percentile(double percent) const {
  if (count_ == 0) return 0;
  // 99.9 is no binary number: 99.9 % of 1000 must be 999, not the next rank.
  const double exact =
      percent / 100 * static_cast<double>(count_) * (1 - 1e-12);
  const int64_t rank =
      std::clamp<int64_t>(static_cast<int64_t>(std::ceil(exact)), 1, count_);
  int64_t seen = 0;
  for (int i = 0; i < kBuckets; ++i) {
    seen += buckets_[static_cast<size_t>(i)];
    if (seen >= rank) return std::clamp(HighestOf(i), min_, max_);
  }
  return max_;
}

int64_t Histogram::CountBetween(int64_t low, int64_t high) const {
  int64_t count = 0;
  for (int i = 0; i < kBuckets; ++i) {
    const int64_t value = HighestOf(i);
    if (value > low && value <= high) count += buckets_[static_cast<size_t>(i)];
  }
  return count;
}

}  // namespace reprise::client
