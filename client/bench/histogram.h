// Durations counted in log-linear buckets: small, exact enough, never grows.
#pragma once

#include <cstdint>
#include <vector>

namespace reprise::client {

// Values are nanoseconds, 0 to about 4.8 hours (longer ones are counted as
// that). A value is known to 1 part in 128; the extremes and the sum exactly.
// Record allocates nothing.
// Threads: one.
class Histogram {
 public:
  Histogram();

  void Record(int64_t ns);
  void Clear();

  int64_t count() const { return count_; }
  // Zero while empty.
  int64_t min() const { return count_ == 0 ? 0 : min_; }
  int64_t max() const { return max_; }
  double mean() const;

  // The smallest recorded value (to bucket precision) that at least `percent`
  // of the values do not exceed; zero while empty.
  int64_t Percentile(double percent) const;

  // How many values lie in (low, high], to bucket precision.
  int64_t CountBetween(int64_t low, int64_t high) const;

 private:
  static int Bucket(int64_t ns);
  static int64_t HighestOf(int bucket);

  std::vector<int64_t> buckets_;
  int64_t count_ = 0;
  int64_t min_ = 0;
  int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace reprise::client
