// Name and version of an operator -> what Reprise knows of it.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/ops/op.h"

namespace reprise::ops {

// The row that holds for `version` of `domain`; never null, lives for ever.
// UNIMPLEMENTED: "unsupported operator domain::name", or one that the version
// does not have yet.
absl::StatusOr<const Op*> FindOp(absl::string_view domain,
                                 absl::string_view name, int version);

// Names of all operators, sorted, once each: tests hold the rows, and each
// device's kernels, against them.
std::vector<absl::string_view> OpNames();

}  // namespace reprise::ops
