// The signature of one variant, and whether it can be asked for.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// INVALID_ARGUMENT unless `dims` has a value for each free symbol, and `ladder`
// is positive and ascending, and just 1 without a batch.
absl::Status CheckVariant(const Signature& signature, const VariantKey& dims,
                          const std::vector<int>& ladder);

// The signature without free symbols: its inputs have the values of `dims`,
// which has one for each. Its outputs are as they were, until BindOutputs.
Signature BindSymbols(const Signature& signature, const VariantKey& dims);

// Gives the outputs the dims that they have in `bound`, a rung of `rows` rows.
// FAILED_PRECONDITION if one does not carry the batch on its first axis;
// INTERNAL if one has another datatype than it should.
absl::Status BindOutputs(const ops::BoundGraph& bound, int rows,
                         Signature& signature);

}  // namespace reprise
