#include "client/cli/server_split.h"

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
  std::map<uint64_t, uint64_t> earlier;
  for (const auto& batch : before.batch_stats()) {
    earlier[batch.batch_size()] = batch.compute_infer().count();
  }
  for (const auto& batch : after.batch_stats()) {
    const int64_t count =
        Grown(earlier[batch.batch_size()], batch.compute_infer().count());
    if (count > 0) {
      batches[static_cast<int64_t>(batch.batch_size())] += count;
    }
  }
}

}  // namespace

double ServerSplit::rows_per_batch() const {
  return batches == 0
             ? 0
             : static_cast<double>(rows) / static_cast<double>(batches);
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
    if (old.execution_count() > model.execution_count() ||
        old.inference_stats().success().count() >
            model.inference_stats().success().count()) {
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
  split.queue_ns = queue.Mean();
  split.input_ns = input.Mean();
  split.infer_ns = infer.Mean();
  split.output_ns = output.Mean();
  return split;
}

}  // namespace reprise::client
