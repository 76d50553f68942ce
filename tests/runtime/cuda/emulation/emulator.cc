#include "tests/runtime/cuda/emulation/emulator.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/float16.h"
#include "runtime/tensor/host_tensor.h"
#include "tests/runtime/cuda/emulation/block.h"
#include "tests/runtime/cuda/emulation/ptx.h"

namespace reprise::emulation {
namespace {

using cuda::Action;
using cuda::Copy;
using cuda::KernelLaunch;
using cuda::MatrixProduct;
using cuda::Place;

double Get(const std::byte* from, int64_t i, DType type) {
  switch (type) {
    case DType::kFp16:
      return static_cast<double>(
          static_cast<float>(reinterpret_cast<const Half*>(from)[i]));
    case DType::kBf16:
      return static_cast<double>(
          static_cast<float>(reinterpret_cast<const BFloat16*>(from)[i]));
    default:
      return static_cast<double>(reinterpret_cast<const float*>(from)[i]);
  }
}

void Put(double value, std::byte* to, int64_t i, DType type) {
  const auto rounded = static_cast<float>(value);
  switch (type) {
    case DType::kFp16:
      reinterpret_cast<Half*>(to)[i] = Half(rounded);
      return;
    case DType::kBf16:
      reinterpret_cast<BFloat16*>(to)[i] = BFloat16(rounded);
      return;
    default:
      reinterpret_cast<float*>(to)[i] = rounded;
  }
}

// The addresses of one run.
class Runner {
 public:
  Runner(const cuda::Program& program, const cuda::CudaWeights& weights,
         std::span<std::byte* const> inputs,
         std::span<std::byte* const> outputs)
      : program_(program),
        weights_(weights),
        inputs_(inputs),
        outputs_(outputs),
        arena_(static_cast<size_t>(program.plan.arena_bytes)) {
    std::memset(arena_.data(), 0xff, arena_.size());
  }

  absl::Status Run() {
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      scratch_ = arena_.data() + program_.plan.steps[i].scratch_offset;
      for (const Action& action : program_.steps[i]) {
        REPRISE_RETURN_IF_ERROR(
            std::visit([&](const auto& any) { return Do(any); }, action));
      }
    }
    return absl::OkStatus();
  }

 private:
  std::byte* At(const Place& place) {
    if (place.buffer == plan::kNoBuffer) return nullptr;
    if (place.buffer == cuda::kScratch) return scratch_ + place.offset;
    const plan::Buffer& buffer = program_.plan.buffers[static_cast<size_t>(
        plan::Root(program_.plan, place.buffer))];
    switch (buffer.place) {
      case plan::Place::kArena:
        return arena_.data() + buffer.offset + place.offset;
      case plan::Place::kInput:
        return inputs_[static_cast<size_t>(buffer.index)] + place.offset;
      case plan::Place::kOutput:
        return outputs_[static_cast<size_t>(buffer.index)] + place.offset;
      case plan::Place::kConstant:
        return const_cast<std::byte*>(  // NOLINT: kernels do not write there
                   weights_.entry(buffer.index).data) +
               place.offset;
    }
    return nullptr;
  }

  absl::Status Do(const KernelLaunch& launch) {
    std::vector<void*> pointers;
    const std::vector<std::byte>* params = nullptr;
    for (const cuda::Argument& argument : launch.arguments) {
      const auto* place = std::get_if<Place>(&argument);
      if (params != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(launch.entry, ": something follows its struct"));
      }
      if (place != nullptr) {
        pointers.push_back(At(*place));
      } else {
        params = &std::get<std::vector<std::byte>>(argument);
      }
    }
    if (params == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(launch.entry, ": no struct"));
    }
    for (const cuda::GeneratedModule& module : program_.modules) {
      if (module.name == launch.entry) {
        return RunPtx(module.ptx, launch, pointers, *params);
      }
    }
    return RunKernel(launch, pointers, *params);
  }

  absl::Status Do(const Copy& copy) {
    std::memcpy(At(copy.to), At(copy.from), static_cast<size_t>(copy.bytes));
    return absl::OkStatus();
  }

  absl::Status Do(const MatrixProduct& p) {
    for (int64_t i = 0; i < p.batch * p.m * p.n; ++i) {
      const int64_t batch = i / (p.m * p.n);
      const int64_t row = i / p.n % p.m;
      const int64_t column = i % p.n;
      double sum = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        const int64_t a = p.transpose_a ? k * p.m + row : row * p.k + k;
        const int64_t b = p.transpose_b ? column * p.k + k : k * p.n + column;
        sum += Get(At(p.a), batch * p.stride_a + a, p.type) *
               Get(At(p.b), batch * p.stride_b + b, p.type);
      }
      sum *= static_cast<double>(p.alpha);
      const int64_t at = row * p.n + column;
      if (p.c.buffer != plan::kNoBuffer) {
        sum += static_cast<double>(p.beta) *
               Get(At(p.c), batch * p.stride_c + at, p.type);
      }
      if (p.bias.buffer != plan::kNoBuffer) {
        sum += Get(At(p.bias), column, p.type);
      }
      if (p.epilogue == MatrixProduct::Epilogue::kRelu && sum < 0) sum = 0;
      Put(sum, At(p.d), batch * p.stride_d + at, p.type);
    }
    return absl::OkStatus();
  }

  const cuda::Program& program_;
  const cuda::CudaWeights& weights_;
  std::span<std::byte* const> inputs_;
  std::span<std::byte* const> outputs_;
  AlignedBuffer arena_;
  std::byte* scratch_ = nullptr;
};

}  // namespace

absl::Status Run(const cuda::Program& program, const cuda::CudaWeights& weights,
                 std::span<std::byte* const> inputs,
                 std::span<std::byte* const> outputs) {
  return Runner(program, weights, inputs, outputs).Run();
}

}  // namespace reprise::emulation
