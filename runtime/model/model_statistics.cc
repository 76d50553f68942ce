#include "runtime/model/model_statistics.h"

namespace reprise {

void ModelStatistics::AddSuccess(const Success& success) {
  absl::MutexLock lock(&mu_);
  data_.last_inference = success.finished;
  data_.inference_count += static_cast<uint64_t>(success.rows);
  data_.success.Add(success.total);
  data_.queue.Add(success.queue);
  data_.compute_input.Add(success.compute_input);
  data_.compute_infer.Add(success.compute_infer);
  data_.compute_output.Add(success.compute_output);
  const auto batch =
      data_.batches.find(static_cast<uint64_t>(success.batch_rows));
  if (batch == data_.batches.end()) return;
  batch->second.compute_output.total +=
      success.compute_output * success.rows / success.batch_rows;
}

void ModelStatistics::AddFailure(absl::Duration total) {
  absl::MutexLock lock(&mu_);
  data_.fail.Add(total);
}

void ModelStatistics::AddBatch(int rows, absl::Duration compute_input,
                               absl::Duration compute_infer,
                               absl::Duration compute_output) {
  absl::MutexLock lock(&mu_);
  ++data_.execution_count;
  Batch& batch = data_.batches[static_cast<uint64_t>(rows)];
  batch.compute_input.Add(compute_input);
  batch.compute_infer.Add(compute_infer);
  batch.compute_output.Add(compute_output);
}

ModelStatistics::Snapshot ModelStatistics::snapshot() const {
  absl::MutexLock lock(&mu_);
  return data_;
}

}  // namespace reprise
