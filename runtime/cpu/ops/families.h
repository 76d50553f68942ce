// The makers of plain-loop kernels, one for each family's file in this folder.
#pragma once

#include "absl/status/statusor.h"
#include "runtime/cpu/kernel.h"

namespace reprise::cpu {

using MakeKernelFn = absl::StatusOr<Kernel> (*)(const KernelRequest&);

absl::StatusOr<Kernel> MakeUnary(const KernelRequest& request);
absl::StatusOr<Kernel> MakeClip(const KernelRequest& request);
absl::StatusOr<Kernel> MakeFloatTest(const KernelRequest& request);
absl::StatusOr<Kernel> MakeArithmetic(const KernelRequest& request);
absl::StatusOr<Kernel> MakeCompare(const KernelRequest& request);
absl::StatusOr<Kernel> MakeLogic(const KernelRequest& request);
absl::StatusOr<Kernel> MakeBits(const KernelRequest& request);
absl::StatusOr<Kernel> MakeVariadic(const KernelRequest& request);
absl::StatusOr<Kernel> MakePow(const KernelRequest& request);
absl::StatusOr<Kernel> MakeMod(const KernelRequest& request);
absl::StatusOr<Kernel> MakeWhere(const KernelRequest& request);
absl::StatusOr<Kernel> MakeCast(const KernelRequest& request);

absl::StatusOr<Kernel> MakeCopy(const KernelRequest& request);
absl::StatusOr<Kernel> MakeDropout(const KernelRequest& request);
absl::StatusOr<Kernel> MakeTranspose(const KernelRequest& request);
absl::StatusOr<Kernel> MakeConcat(const KernelRequest& request);
absl::StatusOr<Kernel> MakeSplit(const KernelRequest& request);
absl::StatusOr<Kernel> MakeSlice(const KernelRequest& request);
absl::StatusOr<Kernel> MakeExpand(const KernelRequest& request);
absl::StatusOr<Kernel> MakeTile(const KernelRequest& request);
absl::StatusOr<Kernel> MakePad(const KernelRequest& request);
absl::StatusOr<Kernel> MakeDepthToSpace(const KernelRequest& request);
absl::StatusOr<Kernel> MakeSpaceToDepth(const KernelRequest& request);
absl::StatusOr<Kernel> MakeTrilu(const KernelRequest& request);
absl::StatusOr<Kernel> MakeShape(const KernelRequest& request);
absl::StatusOr<Kernel> MakeConstantOfShape(const KernelRequest& request);
absl::StatusOr<Kernel> MakeRange(const KernelRequest& request);

absl::StatusOr<Kernel> MakeGather(const KernelRequest& request);
absl::StatusOr<Kernel> MakeGatherElements(const KernelRequest& request);
absl::StatusOr<Kernel> MakeGatherNd(const KernelRequest& request);
absl::StatusOr<Kernel> MakeScatterElements(const KernelRequest& request);
absl::StatusOr<Kernel> MakeScatterNd(const KernelRequest& request);
absl::StatusOr<Kernel> MakeOneHot(const KernelRequest& request);

absl::StatusOr<Kernel> MakeReduce(const KernelRequest& request);
absl::StatusOr<Kernel> MakeArg(const KernelRequest& request);
absl::StatusOr<Kernel> MakeCumSum(const KernelRequest& request);
absl::StatusOr<Kernel> MakeTopK(const KernelRequest& request);
absl::StatusOr<Kernel> MakeResize(const KernelRequest& request);

absl::StatusOr<Kernel> MakeSoftmax(const KernelRequest& request);
absl::StatusOr<Kernel> MakeBatchNorm(const KernelRequest& request);
absl::StatusOr<Kernel> MakeLrn(const KernelRequest& request);
absl::StatusOr<Kernel> MakeLayerNorm(const KernelRequest& request);
absl::StatusOr<Kernel> MakeInstanceNorm(const KernelRequest& request);
absl::StatusOr<Kernel> MakePool(const KernelRequest& request);
absl::StatusOr<Kernel> MakeConv(const KernelRequest& request);
absl::StatusOr<Kernel> MakeMatMul(const KernelRequest& request);
absl::StatusOr<Kernel> MakeGemm(const KernelRequest& request);

}  // namespace reprise::cpu
