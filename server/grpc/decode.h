// From a parsed request to a task: every check of a request against the model.
#pragma once

#include <cstdint>
#include <forward_list>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "runtime/batch/infer_task.h"
#include "runtime/model/model_version.h"
#include "runtime/tensor/string_ref.h"
#include "server/grpc/infer_request.h"
#include "server/grpc/typed_contents.h"

namespace reprise {

// What a decoded request needs besides its task; the task's inputs point into
// it, so it must not move while the task lives.
struct DecodedRequest {
  struct Output {
    int index = 0;      // in the model's outputs
    int64_t top_k = 0;  // parameter `classification`; 0: the tensor itself
  };
  absl::InlinedVector<Output, 4> outputs;  // in the model's order

  // Owned here: elements that were sent in typed form, and the StringRefs of
  // BYTES tensors with what text of theirs was in two pieces.
  absl::InlinedVector<TypedElements, 1> typed;
  std::forward_list<std::string> text;
};

// Fills `decoded` and all of `task` but its arrival and deadline, which the
// caller has set (the deadline as the call brought it; a model's SLO shortens
// it). `request` and the bytes it borrows must outlive the task.
//
// INVALID_ARGUMENT names model and tensor, what was expected and what came.
// UNIMPLEMENTED: shared memory. INTERNAL: contents that are not valid wire
// format.
absl::Status DecodeRequest(const InferRequest& request,
                           const ModelVersion& model, DecodedRequest& decoded,
                           InferTask& task);

}  // namespace reprise
