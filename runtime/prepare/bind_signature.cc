#include "runtime/prepare/bind_signature.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

namespace reprise {
namespace {

void BindSpec(const std::vector<std::string>& symbols, const VariantKey& dims,
              TensorSpec& spec) {
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    if (spec.dims[i] != kFreeDim || i >= spec.symbols.size()) continue;
    const auto it = std::find(symbols.begin(), symbols.end(), spec.symbols[i]);
    if (it == symbols.end()) continue;
    spec.dims[i] = dims[it - symbols.begin()];
    spec.symbols[i].clear();
  }
}

}  // namespace

absl::Status CheckVariant(const Signature& signature, const VariantKey& dims,
                          const std::vector<int>& ladder) {
  if (dims.size() != signature.free_symbols.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(dims.size(), " dims given for ",
                     signature.free_symbols.size(), " free symbols"));
  }
  if (ladder.empty() || ladder.front() < 1 ||
      !std::is_sorted(ladder.begin(), ladder.end(), std::less_equal<>()) ||
      (!signature.batched && ladder.back() != 1)) {
    return absl::InvalidArgumentError(
        "a ladder must be positive and ascending, and just 1 without a batch");
  }
  return absl::OkStatus();
}

Signature BindSymbols(const Signature& signature, const VariantKey& dims) {
  Signature bound = signature;
  bound.free_symbols.clear();
  for (TensorSpec& spec : bound.inputs) {
    BindSpec(signature.free_symbols, dims, spec);
  }
  return bound;
}

absl::Status BindOutputs(const ops::BoundGraph& bound, int rows,
                         Signature& signature) {
  for (size_t k = 0; k < signature.outputs.size(); ++k) {
    TensorSpec& spec = signature.outputs[k];
    const ops::TensorType& type = bound.types[bound.graph->outputs[k]];
    if (type.dtype != spec.dtype) {
      return absl::InternalError(absl::StrCat("output '", spec.name, "' is ",
                                              DTypeName(type.dtype), ", not ",
                                              DTypeName(spec.dtype)));
    }
    Dims dims = type.dims;
    if (signature.batched) {
      if (dims.empty() || dims[0] != rows) {
        return absl::FailedPreconditionError(absl::StrCat(
            "output '", spec.name, "' of dims ", DimsText(dims),
            " does not carry a batch of ", rows, " on its first axis"));
      }
      dims.erase(dims.begin());
    }
    spec.dims = dims;
    spec.symbols.assign(dims.size(), "");
  }
  return absl::OkStatus();
}

}  // namespace reprise
