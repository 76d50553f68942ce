// The datatypes of config.pbtxt and those of tensors.
#pragma once

#include <optional>

#include "proto/model_config.pb.h"
#include "runtime/tensor/dtype.h"

namespace reprise {

inference::DataType ToConfigType(DType dtype);

// Nothing for TYPE_INVALID, and for numbers that the schema does not name.
std::optional<DType> FromConfigType(inference::DataType type);

}  // namespace reprise
