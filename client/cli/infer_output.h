// A reply as people, scripts and files want it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/format.h"
#include "client/infer_message.h"

namespace reprise::client {

// One line for each output: name, datatype, shape, first values.
std::string OutputTable(const InferResult& result);

// For each row of each numeric output the `k` largest values of it, with their
// index and, if there are any, `labels` (by index). A row is all but the first
// axis; an output of one axis is one row.
// INVALID_ARGUMENT if no output is numeric.
absl::StatusOr<std::string> TopK(const InferResult& result, int64_t k,
                                 const std::vector<std::string>& labels);

// The form of the protocol's JSON: model_name, model_version, id, outputs with
// name, datatype, shape and flat data.
Json ResultJson(const InferResult& result);

// The same with what TopK shows in place of the data: for each row a list of
// {index, value, label}, as "top". Outputs that are not numeric are left out.
absl::StatusOr<Json> TopKJson(const InferResult& result, int64_t k,
                              const std::vector<std::string>& labels);

// `texts` are "NAME=FILE.npy". INVALID_ARGUMENT names what is no output.
absl::Status WriteOutputs(const InferResult& result,
                          const std::vector<std::string>& texts);

}  // namespace reprise::client
