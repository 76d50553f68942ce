// What a model takes and gives: names, datatypes and dims of its tensors.
#pragma once

#include <string>
#include <vector>

#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise {

// One input or output. `dims` leaves the batch axis out when the signature is
// batched; kFreeDim marks a dim that a variant binds. `symbols[i]` names that
// free dim ("sequence_length", or "<tensor>[<axis>]" where the model has no
// name for it) and is empty for fixed dims. Two dims of one symbol are equal.
struct TensorSpec {
  std::string name;
  DType dtype = DType::kFp32;
  Dims dims;
  std::vector<std::string> symbols;
};

// Constant once a model is loaded. Order is the model's own.
struct Signature {
  bool batched = false;  // axis 0 of every tensor is the batch, not in `dims`
  int max_batch = 1;     // rows of one batch; 1 when not batched
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  // Every distinct symbol of the inputs, in order of first appearance: the
  // order of the values in a VariantKey.
  std::vector<std::string> free_symbols;
};

// One value for each of Signature::free_symbols, in that order; empty for a
// model without free dims.
using VariantKey = Dims;

}  // namespace reprise
