// Datatypes by ONNX's numbers, which some operators' attributes hold.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/tensor/dtype.h"

namespace reprise::ops {

// The DType of a number of ONNX's TensorProto.DataType. UNIMPLEMENTED for types
// that Reprise does not have; INVALID_ARGUMENT for undefined ones.
absl::StatusOr<DType> DTypeFromOnnx(int64_t number);

}  // namespace reprise::ops
