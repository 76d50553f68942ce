// One request on its way through queue, batch and device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/batch/batch_output.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// The bytes of one input: all rows of the request, row-major, in the pieces in
// which they arrived. For a STRING input it is one piece: `rows x elements`
// StringRefs that borrow the request's text.
struct InputRows {
  absl::InlinedVector<std::span<const std::byte>, 1> pieces;
  int64_t bytes = 0;  // sum over the pieces
};

// When a request passed each stage; InfinitePast where it did not.
struct StageTimes {
  absl::Time arrival = absl::InfinitePast();   // whole message received
  absl::Time enqueued = absl::InfinitePast();  // accepted by the queue
  absl::Time picked = absl::InfinitePast();    // taken into a batch
  absl::Time gathered = absl::InfinitePast();  // its rows are in the slot
  absl::Time computed = absl::InfinitePast();  // the device is done
};

// How a request ended: an error, or its rows of a batch's outputs.
struct TaskResult {
  absl::Status status;
  BatchOutput output;  // empty unless status is OK
  StageTimes times;
  int batch_rows = 0;  // of the batch that it was in; 0: none ran
  // The thread that completes the task has nothing else to do: Complete may
  // use it for some tens of microseconds.
  bool may_block_briefly = false;
};

// Lifecycle: made and filled by the RPC layer; offered to a worker. From a
// successful Offer until Complete is called it belongs to the worker; whoever
// implements it keeps it, and the bytes that its inputs point to, alive until
// then and until the BatchOutput it was given is dropped.
// Threads: filled by one thread before Offer; Complete is called exactly once,
// by any thread, and must not block; without `may_block_briefly` it returns at
// once.
class InferTask {
 public:
  virtual ~InferTask() = default;

  virtual void Complete(TaskResult result) = 0;

  int rows = 1;        // 1 when the model is not batched
  VariantKey variant;  // values of the model's free symbols; usually empty
  absl::InlinedVector<InputRows, 4> inputs;  // in the model's order
  int64_t bytes = 0;                         // sum over the inputs
  absl::Time arrival = absl::InfinitePast();
  // Reply due: the gRPC deadline or arrival + slo, whichever is earlier.
  absl::Time deadline = absl::InfiniteFuture();
  // Run begun: arrival + the request's `timeout` parameter. The queue adds the
  // model's default by itself.
  absl::Time queue_limit = absl::InfiniteFuture();
  int64_t timeout_us = 0;  // the request's `timeout` parameter; 0 = none
  uint64_t priority = 0;   // 0 = the model's default; 1 = highest
  // Of a load: no default timeout ends it, and no statistics count it.
  bool warmup = false;
  // Who accepted it, among several workers: set and read by whoever offers and
  // cancels it.
  int route = 0;
};

}  // namespace reprise
