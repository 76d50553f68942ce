// TensorProto -> HostTensor.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "onnx/onnx_pb.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::onnx_import {

// Reads tensors one after the other and counts their bytes.
class WeightReader {
 public:
  // `folder` holds external data; empty: there must be none.
  WeightReader(std::string folder, int max_rank, int64_t max_bytes)
      : folder_(std::move(folder)),
        max_rank_(max_rank),
        max_bytes_(max_bytes) {}

  // Every storage form (raw, typed fields, external) of every datatype of the
  // protocol. INVALID_ARGUMENT: dims, datatype and data contradict each other;
  // UNIMPLEMENTED: a datatype that Reprise does not have; RESOURCE_EXHAUSTED:
  // too many axes or, with those read before, too many bytes. Nothing is
  // allocated before the data is known to be there.
  absl::StatusOr<HostTensor> Read(const onnx::TensorProto& proto);

 private:
  const std::string folder_;
  const int max_rank_;
  const int64_t max_bytes_;
  int64_t bytes_ = 0;
};

}  // namespace reprise::onnx_import
