// The implementations of nodes that use oneDNN, one file for each family.
#pragma once

#include "absl/status/status.h"
#include "runtime/cpu/lowering_context.h"

namespace reprise::cpu {

absl::Status LowerConvOneDnn(LoweringContext& context,
                             const ops::NodeView& view);
absl::Status LowerMatMulOneDnn(LoweringContext& context,
                               const ops::NodeView& view);
absl::Status LowerGemmOneDnn(LoweringContext& context,
                             const ops::NodeView& view);
absl::Status LowerPoolOneDnn(LoweringContext& context,
                             const ops::NodeView& view);
absl::Status LowerSoftmaxOneDnn(LoweringContext& context,
                                const ops::NodeView& view);
absl::Status LowerLayerNormOneDnn(LoweringContext& context,
                                  const ops::NodeView& view);
absl::Status LowerBatchNormOneDnn(LoweringContext& context,
                                  const ops::NodeView& view);
absl::Status LowerLrnOneDnn(LoweringContext& context,
                            const ops::NodeView& view);
absl::Status LowerUnaryOneDnn(LoweringContext& context,
                              const ops::NodeView& view);
absl::Status LowerBinaryOneDnn(LoweringContext& context,
                               const ops::NodeView& view);
absl::Status LowerConcatOneDnn(LoweringContext& context,
                               const ops::NodeView& view);

// Output 0 is input 0 with other dims: no step at all.
absl::Status LowerView(LoweringContext& context, const ops::NodeView& view);
// The plain loop, on row-major operands.
absl::Status LowerPlain(LoweringContext& context, const ops::NodeView& view,
                        TableBudget* tables);

// Whether all present operands of `view` are FP32 and none is empty: what
// oneDNN is asked for.
bool AllFp32(const LoweringContext& context, const ops::NodeView& view);

}  // namespace reprise::cpu
