// The elements of operands.
#pragma once

#include <cstddef>

#include "runtime/tensor/host_tensor.h"
#include "tests/conformance/device/op_case.h"

namespace reprise::conformance {

// `operand` with `rows` rows, if it has any; the same for each seed.
HostTensor MakeOperand(const Operand& operand, int rows, unsigned seed);

// An element as a number.
double NumberAt(const HostTensor& tensor, size_t i);

}  // namespace reprise::conformance
