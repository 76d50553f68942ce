// A ModelInferRequest as it arrived: its small fields, and where the tensors
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <span>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/batch/infer_task.h"
#include "runtime/tensor/shape.h"
#include "server/grpc/wire_reader.h"

namespace reprise {

// InferParameter.
struct InferParameter {
  enum class Kind { kNone, kBool, kInt64, kString, kDouble, kUint64 };
  Kind kind = Kind::kNone;
  uint64_t number = 0;     // the bits of a bool, int64 or uint64
  absl::string_view text;  // a string

  int64_t int64() const { return static_cast<int64_t>(number); }
};
// In order of arrival: of two with the same key the later one counts.
using InferParameters =
    absl::InlinedVector<std::pair<absl::string_view, InferParameter>, 2>;

// Text and tensors borrow the pieces that were parsed.
struct InferRequest {
  struct Region {  // of the message
    size_t position = 0;
    size_t length = 0;
  };
  struct Input {
    absl::string_view name;
    absl::string_view datatype;
    Dims shape;
    InferParameters parameters;
    // InferTensorContents; set, perhaps empty, if there is one or more.
    absl::InlinedVector<Region, 1> contents;
  };
  struct Output {
    absl::string_view name;
    InferParameters parameters;
  };

  absl::string_view model_name;
  absl::string_view model_version;
  absl::string_view id;
  InferParameters parameters;
  absl::InlinedVector<Input, 2> inputs;
  absl::InlinedVector<Output, 2> outputs;
  absl::InlinedVector<InputRows, 2> raw;  // raw_input_contents

  std::span<const WireReader::Piece> message;  // what the regions are of
  std::forward_list<std::string> scratch;      // text that was in two pieces
};

// Fills an empty `request`; `pieces` must outlive it. INTERNAL, as gRPC has it
// for what cannot be parsed, if they are not a ModelInferRequest.
absl::Status ParseInferRequest(std::span<const WireReader::Piece> pieces,
                               InferRequest& request);

}  // namespace reprise
