// Attributes and declared types of a model file, one at a time.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "onnx/onnx_pb.h"
#include "runtime/graph/attributes.h"
#include "runtime/graph/graph.h"
#include "runtime/onnx/weights.h"

namespace reprise::onnx_import {

// All attributes of `node`. INVALID_ARGUMENT: one that is given twice or has no
// value; UNIMPLEMENTED: kinds that no operator of ours has (subgraphs, sparse
// tensors, types). Errors name the attribute.
absl::StatusOr<graph::Attributes> ConvertAttributes(const onnx::NodeProto& node,
                                                    WeightReader& weights);

// Datatype and dims of an input or output into `value`. INVALID_ARGUMENT: no
// type or datatype, a negative dim; UNIMPLEMENTED: not a tensor.
absl::Status ConvertType(const onnx::ValueInfoProto& info, int max_rank,
                         graph::Value& value);

// What a Constant node holds.
absl::StatusOr<HostTensor> ConvertConstant(const onnx::NodeProto& node,
                                           WeightReader& weights);

}  // namespace reprise::onnx_import
