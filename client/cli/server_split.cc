#include "client/cli/server_split.h"

#include <set>
#include <string>

namespace reprise::client {
namespace {

using inference::ModelStatistics;
using inference::StatisticDuration;

// Sums that become a mean.
struct Sum {
  double ns = 0;
  double count = 0;

  void Add(const StatisticDuration& before, const StatisticDuration& after) {
    ns += static_cast<double>(after.ns() - before.ns());
    count += static_cast<double>(after.count() - before.count());
  }
  double Mean() const { return count > 0 ? ns / count : 0; }
};

int64_t Grown(uint64_t before, uint64_t after) {
  return static_cast<int64_t>(after - before);
}

void AddBatches(const ModelStatistics& before, const ModelStatistics& after,
                std::map<int64_t, int64_t>& batches) {
  std::map<int64_t, int64_t> earlier = BatchesBySize(before);
  for (const auto& [size, total] : BatchesBySize(after)) {
    const int64_t count = total - earlier[size];
    if (count > 0) batches[size] += count;
  }
}

bool WentBack(const ModelStatistics& before, const ModelStatistics& after) {
  const auto& was = before.inference_stats();
  const auto& is = after.inference_stats();
  return before.execution_count() > after.execution_count() ||
         was.success().count() > is.success().count() ||
         was.fail().count() > is.fail().count();
}

}  // namespace

double MeanBatch(const std::map<int64_t, int64_t>& batches_by_size,
                 int64_t rows, int64_t batches) {
  if (!batches_by_size.empty()) {
    rows = 0;
    batches = 0;
    for (const auto& [size, count] : batches_by_size) {
      rows += size * count;
      batches += count;
    }
  }
  return batches == 0
             ? 0
             : static_cast<double>(rows) / static_cast<double>(batches);
}

std::map<int64_t, int64_t> BatchesBySize(const ModelStatistics& model) {
  std::map<int64_t, int64_t> batches;
  for (const auto& batch : model.batch_stats()) {
    const int64_t count = static_cast<int64_t>(batch.compute_infer().count());
    if (count > 0) batches[static_cast<int64_t>(batch.batch_size())] += count;
  }
  return batches;
}

double ServerSplit::rows_per_batch() const {
  return MeanBatch(batches_by_size, rows, batches);
}

ServerSplit SplitBetween(const inference::ModelStatisticsResponse& before,
                         const inference::ModelStatisticsResponse& after) {
  std::map<std::string, ModelStatistics> earlier;
  for (const ModelStatistics& model : before.model_stats()) {
    earlier[model.version()] = model;
  }
  ServerSplit split;
  Sum queue;
  Sum input;
  Sum infer;
  Sum output;
  for (const ModelStatistics& model : after.model_stats()) {
    ModelStatistics& old = earlier[model.version()];
    if (WentBack(old, model)) {
      split.restarted = true;
      old.Clear();
    }
    const auto& was = old.inference_stats();
    const auto& is = model.inference_stats();
    split.requests += Grown(was.success().count(), is.success().count());
    split.failed += Grown(was.fail().count(), is.fail().count());
    split.rows += Grown(old.inference_count(), model.inference_count());
    split.batches += Grown(old.execution_count(), model.execution_count());
    queue.Add(was.queue(), is.queue());
    input.Add(was.compute_input(), is.compute_input());
    infer.Add(was.compute_infer(), is.compute_infer());
    output.Add(was.compute_output(), is.compute_output());
    AddBatches(old, model, split.batches_by_size);
  }
  // A version that went took its counters along.
  std::set<std::string> there;
  for (const ModelStatistics& model : after.model_stats()) {
    there.insert(model.version());
  }
  for (const ModelStatistics& model : before.model_stats()) {
    if (there.count(model.version()) == 0) split.restarted = true;
  }
  split.queue_ns = queue.Mean();
  split.input_ns = input.Mean();
  split.infer_ns = infer.Mean();
  split.output_ns = output.Mean();
  return split;
}

ServerSplit SplitOf(const inference::ModelStatisticsResponse& before,
                    const inference::ModelStatisticsResponse& after,
                    int64_t answered) {
  ServerSplit split = SplitBetween(before, after);
  if (split.restarted || split.requests >= answered) return split;
  ServerSplit since_load = SplitBetween({}, after);
  if (since_load.requests == 0) return split;  // a server that counts none
  since_load.restarted = true;
  return since_load;
}

}  // namespace reprise::client
