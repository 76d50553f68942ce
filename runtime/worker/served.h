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

// Executables, one a lane, and the series of their rungs.
struct Prepared {
  std::vector<std::unique_ptr<Executable>> lanes;
  std::unique_ptr<VariantMetrics> metrics;
};

// One variant: its queue, and its executables once it is prepared. One that is
// made on demand is ready when the rung that was needed first is prepared, on
// one lane; the whole ladder follows and is taken over between two batches.
//
// Threads: all guarded by the worker's mutex; the executables are used on the
// worker's thread, without it.
struct Variant {
  Variant(Served& of, VariantKey values);

  bool ready() const { return !lanes.empty(); }
  // Whether a request of so many rows can run on it as it is.
  bool HasRoom(int rows) const { return ready() && rows <= ladder.back().rows; }
  // Whether somebody waits for a rung that is not prepared.
  bool WantsRungs() const;
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
  bool partial = false;   // the rest of its ladder is to be prepared
  absl::Status rest;      // why that was not possible, if it was not
  Prepared next;          // its whole ladder, not yet taken over
  // What `next` has replaced, and the batches whose slot is still held there.
  std::vector<std::unique_ptr<Executable>> retired;
  int retired_runs = 0;
  int runs = 0;  // batches whose slot is still held
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
  int64_t weight_bytes = 0;             // after the last Prepare
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
