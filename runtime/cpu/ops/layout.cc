// Operators that move elements: each output is a strided copy of its inputs.
#include "runtime/ops/layout.h"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/ops/families.h"
#include "runtime/cpu/strided.h"
#include "runtime/ops/slice.h"

namespace reprise::cpu {
namespace {

// One strided copy from an input to an output, from given elements on.
struct Move {
  StridedLoop loop;
  size_t input = 0;
  size_t output = 0;
  int64_t from = 0;
  int64_t to = 0;
};

absl::StatusOr<Kernel> MoveKernel(DType dtype, std::vector<Move> moves) {
  return VisitBytes(dtype, [&](auto tag) -> absl::StatusOr<Kernel> {
    using T = typename decltype(tag)::type;
    return Kernel{[moves = std::move(moves)](const KernelArgs& args) {
      for (const Move& move : moves) {
        T* to = args.out<T>(move.output);
        if (to == nullptr) continue;
        CopyStrided(move.loop, args.in<T>(move.input) + move.from,
                    to + move.to);
      }
    }};
  });
}

StridedLoop CopyLoop(const Dims& dims, const Dims& to, const Dims& from) {
  const Dims strides[] = {to, from};
  return MakeLoop(dims, strides);
}

// Input 0 read as `dims` with axes in the order `perm`, written densely.
absl::StatusOr<Kernel> Permuted(DType dtype, const Dims& dims,
                                std::span<const int64_t> perm) {
  const Dims strides = Strides(dims);
  Dims out;
  Dims from;
  for (const int64_t axis : perm) {
    out.push_back(dims[axis]);
    from.push_back(strides[axis]);
  }
  return MoveKernel(dtype, {{.loop = CopyLoop(out, Strides(out), from)}});
}

}  // namespace

absl::StatusOr<Kernel> MakeCopy(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t bytes, NumBytes(request.view.dtype(0),
                                                         request.view.dims(0)));
  return Kernel{[bytes](const KernelArgs& args) {
    if (bytes > 0) {
      std::memcpy(args.outputs[0], args.inputs[0], static_cast<size_t>(bytes));
    }
  }};
}

absl::StatusOr<Kernel> MakeDropout(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(Kernel copy, MakeCopy(request));
  if (request.outputs.size() < 2) return copy;
  REPRISE_ASSIGN_OR_RETURN(
      const int64_t mask_bytes,
      NumBytes(request.outputs[1].dtype, request.outputs[1].dims));
  return Kernel{[copy = std::move(copy), mask_bytes,
                 dtype = request.outputs[1].dtype](const KernelArgs& args) {
    copy.run(args);
    if (args.outputs[1] == nullptr) return;
    if (dtype == DType::kBool) {  // nothing is dropped
      std::memset(args.outputs[1], 1, static_cast<size_t>(mask_bytes));
    } else {  // below opset 10 the mask has the type of the data
      std::memset(args.outputs[1], 0, static_cast<size_t>(mask_bytes));
    }
  }};
}

absl::StatusOr<Kernel> MakeTranspose(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> perm,
                           ops::ReadTransposePerm(request.view));
  return Permuted(request.view.dtype(0), request.view.dims(0), perm);
}

absl::StatusOr<Kernel> MakeConcat(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const int64_t axis,
                           ops::ReadConcatAxis(request.view));
  const Dims out = Strides(request.outputs[0].dims);
  std::vector<Move> moves;
  int64_t at = 0;
  for (size_t i = 0; i < request.view.input_count(); ++i) {
    const Dims& dims = request.view.dims(i);
    moves.push_back({.loop = CopyLoop(dims, out, Strides(dims)),
                     .input = i,
                     .to = at * out[axis]});
    at += dims[axis];
  }
  return MoveKernel(request.outputs[0].dtype, std::move(moves));
}

absl::StatusOr<Kernel> MakeSplit(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::SplitParams params,
                           ops::ReadSplit(request.view));
  const Dims in = Strides(request.view.dims(0));
  std::vector<Move> moves;
  int64_t at = 0;
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const Dims& dims = request.outputs[i].dims;
    moves.push_back({.loop = CopyLoop(dims, Strides(dims), in),
                     .output = i,
                     .from = at * in[params.axis]});
    at += params.sizes[i];
  }
  return MoveKernel(request.view.dtype(0), std::move(moves));
}

absl::StatusOr<Kernel> MakeSlice(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::SliceParams params,
                           ops::ReadSlice(request.view));
  const Dims in = Strides(request.view.dims(0));
  const Dims& out = request.outputs[0].dims;
  Dims from;
  int64_t start = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    from.push_back(in[i] * params.steps[i]);
    if (out[i] > 0) start += in[i] * params.starts[i];
  }
  return MoveKernel(
      request.view.dtype(0),
      {{.loop = CopyLoop(out, Strides(out), from), .from = start}});
}

absl::StatusOr<Kernel> MakeExpand(const KernelRequest& request) {
  const Dims& out = request.outputs[0].dims;
  return MoveKernel(
      request.view.dtype(0),
      {{.loop = CopyLoop(out, Strides(out),
                         BroadcastStrides(request.view.dims(0), out))}});
}

absl::StatusOr<Kernel> MakeTile(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats,
                           ops::ReadTileRepeats(request.view));
  const Dims& in = request.view.dims(0);
  const Dims strides = Strides(in);
  Dims dims;
  Dims from;
  for (size_t i = 0; i < in.size(); ++i) {
    dims.push_back(repeats[i]);
    from.push_back(0);
    dims.push_back(in[i]);
    from.push_back(strides[i]);
  }
  return MoveKernel(request.view.dtype(0),
                    {{.loop = CopyLoop(dims, Strides(dims), from)}});
}

absl::StatusOr<Kernel> MakeDepthToSpace(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::DepthSpaceParams params,
                           ops::ReadDepthSpace(request.view));
  const Dims& in = request.view.dims(0);
  const int64_t block = params.block;
  const int64_t depth = in[1] / (block * block);
  if (params.crd) {
    const int64_t perm[] = {0, 1, 4, 2, 5, 3};
    return Permuted(request.view.dtype(0),
                    {in[0], depth, block, block, in[2], in[3]}, perm);
  }
  const int64_t perm[] = {0, 3, 4, 1, 5, 2};
  return Permuted(request.view.dtype(0),
                  {in[0], block, block, depth, in[2], in[3]}, perm);
}

absl::StatusOr<Kernel> MakeSpaceToDepth(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::DepthSpaceParams params,
                           ops::ReadDepthSpace(request.view));
  const Dims& in = request.view.dims(0);
  const int64_t block = params.block;
  const int64_t perm[] = {0, 3, 5, 1, 2, 4};
  return Permuted(request.view.dtype(0),
                  {in[0], in[1], in[2] / block, block, in[3] / block, block},
                  perm);
}

absl::StatusOr<Kernel> MakeTrilu(const KernelRequest& request) {
  REPRISE_ASSIGN_OR_RETURN(const ops::TriluParams params,
                           ops::ReadTrilu(request.view));
  const Dims& dims = request.view.dims(0);
  REPRISE_ASSIGN_OR_RETURN(const int64_t total, NumElements(dims));
  const int64_t columns = dims[dims.size() - 1];
  const int64_t rows = dims[dims.size() - 2];
  return VisitBytes(
      request.view.dtype(0), [&](auto tag) -> absl::StatusOr<Kernel> {
        using T = typename decltype(tag)::type;
        return Kernel{[=](const KernelArgs& args) {
          const T* x = args.in<T>(0);
          T* y = args.out<T>(0);
          for (int64_t i = 0; i < total; ++i) {
            const int64_t column = i % columns;
            const int64_t row = i / columns % rows;
            const bool keep = params.upper ? column - row >= params.k
                                           : column - row <= params.k;
            y[i] = keep ? x[i] : T{};
          }
        }};
      });
}

}  // namespace reprise::cpu
