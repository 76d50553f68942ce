#include "runtime/cpu/ops/rows.h"

#include <algorithm>
#include <vector>

namespace reprise::cpu {

RowWalk::RowWalk(const RowOperand& output, std::span<const RowOperand> inputs,
                 RowFn fn, RowParams params)
    : inputs_(static_cast<int>(inputs.size())),
      fn_(fn),
      params_(params),
      store_(output.compute, output.dtype) {
  std::vector<Dims> strides = {BroadcastStrides(output.dims, output.dims)};
  for (const RowOperand& input : inputs) {
    strides.push_back(BroadcastStrides(input.dims, output.dims));
  }
  loop_ = MakeLoop(output.dims, strides);
  copies_ = store_.copies();
  chunked_ = !store_.copies();
  for (int k = 0; k < inputs_; ++k) {
    load_[k] = Converter(inputs[k].dtype, inputs[k].compute);
    copies_ = copies_ && load_[k].copies();
    chunked_ =
        chunked_ || (!load_[k].copies() && loop_.inner_stride(k + 1) != 0);
  }
}

// Where an input has one value for the row it is converted already: `whole` has
// it in the dtype that the function takes.
void RowWalk::RunRow(const Row& whole) const {
  std::array<ChunkBuffer, kMaxRowInputs> loaded;
  ChunkBuffer made;
  Row part = whole;
  for (int64_t done = 0; done < whole.n; done += part.n) {
    part.n = std::min(whole.n - done, kChunk);
    for (int k = 0; k < inputs_; ++k) {
      if (whole.step[k] == 0) continue;
      const Converter& load = load_[k];
      part.in[k] =
          load.Read(whole.in[k] + done * static_cast<int64_t>(load.from_size()),
                    1, part.n, loaded[k]);
    }
    std::byte* const target =
        whole.out + done * static_cast<int64_t>(store_.to_size());
    part.out = store_.copies() ? target : made.data();
    fn_(part);
    if (!store_.copies()) store_.Scatter(part.out, target, 1, part.n);
  }
}

void RowWalk::Run(std::span<const std::byte* const> inputs,
                  std::byte* output) const {
  alignas(8) std::array<std::array<std::byte, 8>, kMaxRowInputs> single;
  std::array<int64_t, kMaxRowInputs> size{};
  const auto size_out = static_cast<int64_t>(store_.to_size());
  Row row;
  row.n = loop_.inner();
  row.params = params_;
  for (int k = 0; k < inputs_; ++k) {
    row.step[k] = loop_.inner_stride(k + 1);
    size[k] = static_cast<int64_t>(load_[k].from_size());
  }
  ForEachRow(loop_, [&](const auto& at) {
    for (int k = 0; k < inputs_; ++k)
      row.in[k] = inputs[k] + at[k + 1] * size[k];
    row.out = output + at[0] * size_out;
    if (copies_) {
      fn_(row);
      return;
    }
    for (int k = 0; k < inputs_; ++k) {
      if (row.step[k] != 0 || load_[k].copies()) continue;
      load_[k].Gather(row.in[k], 1, single[k].data(), 1);
      row.in[k] = single[k].data();
    }
    if (chunked_) {
      RunRow(row);
    } else {
      fn_(row);
    }
  });
}

Kernel RowKernel(const RowOperand& output, std::span<const RowOperand> inputs,
                 RowFn fn, RowParams params) {
  return {[walk = RowWalk(output, inputs, fn, params)](const KernelArgs& args) {
    walk.Run(args.inputs, args.outputs[0]);
  }};
}

Kernel RowKernel(const KernelRequest& request, DType compute, DType result,
                 RowFn fn, RowParams params) {
  std::vector<RowOperand> inputs;
  for (size_t i = 0; i < request.view.input_count(); ++i) {
    inputs.push_back({request.view.dtype(i), compute, request.view.dims(i)});
  }
  return RowKernel({request.outputs[0].dtype, result, request.outputs[0].dims},
                   inputs, fn, params);
}

}  // namespace reprise::cpu
