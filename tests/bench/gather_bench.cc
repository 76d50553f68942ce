// The one host copy on the way in: Gather.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "runtime/batch/assemble.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/signature.h"
#include "tests/bench/bench_task.h"

namespace reprise::bench {
namespace {

// One row of `elements` INT32, in `pieces` pieces, into a slot for 32 rows.
void GatherRow(benchmark::State& state) {
  const auto row_bytes = static_cast<size_t>(4 * state.range(0));
  Signature signature;
  signature.batched = true;
  signature.max_batch = 32;
  TensorSpec input;
  input.name = "INPUT0";
  input.dtype = DType::kInt32;
  input.dims = {state.range(0)};
  input.symbols = {""};
  signature.inputs.push_back(input);

  const std::vector<std::byte> request(row_bytes);
  std::vector<std::byte> slot(32 * row_bytes);
  BenchTask task;
  SetInput(task, request, 1, row_bytes, static_cast<size_t>(state.range(1)));
  const InputBuffer buffer{slot, row_bytes};
  int row = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Gather(task, {&buffer, 1}, row, signature));
    row = (row + 1) % 32;
  }
  state.SetBytesProcessed(state.iterations() * 4 * state.range(0));
}
BENCHMARK(GatherRow)
    ->Args({1, 1})
    ->Args({1024, 1})
    ->Args({150000, 1})
    ->Args({150000, 50});

}  // namespace
}  // namespace reprise::bench
