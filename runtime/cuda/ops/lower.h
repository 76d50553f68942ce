// The implementations of nodes, by family; cuda_lowering.cc lists them. Each is
// a LowerFn: UNIMPLEMENTED, with nothing added, for what it does not take.
#pragma once

#include "absl/status/status.h"
#include "runtime/cuda/lowering_context.h"
#include "runtime/ops/node_view.h"

namespace reprise::cuda {

// elementwise.cc
absl::Status LowerUnary(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerFloatTest(LoweringContext& context,
                            const ops::NodeView& view);
absl::Status LowerBinary(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerVariadic(LoweringContext& context, const ops::NodeView& view);

// select.cc
absl::Status LowerCompare(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerLogic(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerWhere(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerClip(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerCast(LoweringContext& context, const ops::NodeView& view);

// layout.cc. A view: the output has the bytes of input 0.
absl::Status LowerView(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerTranspose(LoweringContext& context,
                            const ops::NodeView& view);
absl::Status LowerConcat(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerSplit(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerSlice(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerExpand(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerTile(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerPad(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerConstantOfShape(LoweringContext& context,
                                  const ops::NodeView& view);

// gather.cc
absl::Status LowerGather(LoweringContext& context, const ops::NodeView& view);

// rows.cc: what works row by row.
absl::Status LowerSoftmax(LoweringContext& context, const ops::NodeView& view);
absl::Status LowerLayerNorm(LoweringContext& context,
                            const ops::NodeView& view);

// reduce.cc
absl::Status LowerReduce(LoweringContext& context, const ops::NodeView& view);

// matmul.cc: by the library, and by our own kernel.
absl::Status LowerMatMulLibrary(LoweringContext& context,
                                const ops::NodeView& view);
absl::Status LowerGemmLibrary(LoweringContext& context,
                              const ops::NodeView& view);
absl::Status LowerMatMulNaive(LoweringContext& context,
                              const ops::NodeView& view);
absl::Status LowerGemmNaive(LoweringContext& context,
                            const ops::NodeView& view);

}  // namespace reprise::cuda
