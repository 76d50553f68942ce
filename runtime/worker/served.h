// What a worker keeps of each model version, and of each of its variants.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/batch/batch_queue.h"
#include "runtime/device/device.h"
#include "runtime/device/executable.h"
#include "runtime/model/model_version.h"
#include "runtime/worker/batch_run.h"
#include "runtime/worker/worker_metrics.h"

namespace reprise {

struct Served;

// One variant: its queue, and its executables once it is prepared.
//
// Threads: all guarded by the worker's mutex; the executables are used on the
// worker's thread, without it.
struct Variant {
  Variant(Served& of, VariantKey values);

  bool ready() const { return !lanes.empty(); }
  // Takes over the ladder, and what follows from it.
  void SetLadder(const Ladder& table);

  Served& served;
  const VariantKey key;
  BatchQueue queue;
  Ladder ladder;            // as the last run left it; empty until ready
  absl::Duration row_cost;  // device time of a row in a batch of capacity
  std::vector<std::unique_ptr<Executable>> lanes;
  std::unique_ptr<VariantMetrics> metrics;
  bool pinned = false;    // the configuration's: never evicted
  bool building = false;  // Prepare runs
  int runs = 0;           // batches whose slot is still held
  absl::Time last_run = absl::InfinitePast();
};

// Dims that could not be prepared, and why.
struct FailedVariant {
  VariantKey key;
  absl::Status status;
};

struct Served {
  Served(const ModelVersion& version, WorkerMetrics& metrics_of);

  const BatchConfig& batch() const { return model->config().batch; }
  Variant* Find(const VariantKey& key);
  Variant& AddVariant(const VariantKey& key);
  // The dims that are served, for messages: "length=32; length=128".
  std::string ReadyVariants() const;

  const ModelVersion* const model;  // not owned; outlives this
  const std::string text;           // "model 'digits' version 1"
  const prometheus::Labels labels;
  ModelMetrics metrics;
  std::unique_ptr<LoadedModel> loaded;  // after its executables, see below
  QueueBounds bounds;
  std::vector<std::unique_ptr<Variant>> variants;
  std::vector<FailedVariant> failed;
  std::deque<BatchRun*> order;  // preserve_ordering: as they were formed
  int lane_count = 1;
  int max_rows = 1;       // of one request
  int runs = 0;           // of all variants
  bool building = false;  // a variant is being prepared
  bool removing = false;
  bool* removed = nullptr;  // set when all is destroyed; the remover's
};

// "sequence_length=32,width=64"; empty without free dims.
std::string VariantText(const Signature& signature, const VariantKey& key);

}  // namespace reprise
