// What lowering makes of one rung: a plan, and what its steps launch. Pure
// data: no driver is needed to make it, print it or test it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "runtime/plan/plan.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/host_tensor.h"

namespace reprise::cuda {

// What FP32 values are computed and kept in between a model's inputs and
// outputs, which keep their own types. The sums of products are FP32 in all.
enum class Precision { kFp32, kTf32, kFp16, kBf16 };

// A place in a buffer of the plan.
struct Place {
  plan::BufferId buffer = plan::kNoBuffer;  // kNoBuffer: a null pointer
  int64_t offset = 0;                       // bytes
};

// An argument of a kernel: an address, or bytes that are passed by value.
using Argument = std::variant<Place, std::vector<std::byte>>;

// `value` as an argument passed by value.
template <typename T>
Argument ByValue(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  bool operator==(const Dim3&) const = default;
};

// One kernel by the name of its entry: of runtime/cuda/kernels, or of the
// program's own modules.
struct KernelLaunch {
  std::string entry;
  Dim3 grid;  // with a zero in it, nothing is launched
  Dim3 block;
  unsigned shared_bytes = 0;  // dynamic
  std::vector<Argument> arguments;
};

// D = epilogue(alpha * op(A) op(B) + beta * C + bias), all row-major; `batch`
// such products, whose operands lie so many elements apart (0: the same one).
// For cuBLASLt.
struct MatrixProduct {
  enum class Epilogue { kNone, kRelu, kGeluTanh, kGeluErf };
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;
  bool transpose_a = false;  // A is [k, m]
  bool transpose_b = false;  // B is [n, k]
  int64_t stride_a = 0, stride_b = 0, stride_c = 0, stride_d = 0;
  DType type = DType::kFp32;  // of A, B, C, D and bias: FP32, FP16 or BF16
  bool tf32 = false;          // products of FP32 may be rounded to TF32
  float alpha = 1;
  float beta = 0;
  Epilogue epilogue = Epilogue::kNone;
  Place a, b, c, d;
  Place bias;       // of n elements, added to each row; none: kNoBuffer
  Place workspace;  // the step's scratch
};

// Bytes from one place to another on the device.
struct Copy {
  Place from;
  Place to;
  int64_t bytes = 0;
};

using Action = std::variant<KernelLaunch, MatrixProduct, Copy>;

// A kernel that lowering has written: PTX for compute capability 7.5 and up.
// The name is its entry's, and says what is in it: the same name is the same
// code, in whatever program.
struct GeneratedModule {
  std::string name = {};
  std::string ptx = {};
};

// Actions run in order; `steps[i]` are those of plan.steps[i]. A step's scratch
// is a buffer to its actions, kScratch.
inline constexpr plan::BufferId kScratch = -2;

// `constants` is indexed by the `index` of the plan's constant buffers, and is
// the model's (CudaWeights): rungs share what is uploaded once.
struct Program {
  plan::Plan plan;
  std::vector<std::vector<Action>> steps;
  std::vector<GeneratedModule> modules = {};  // each name once
};

// The program as text, a line for each action, for people and golden tests.
std::string ProgramText(const Program& program);

}  // namespace reprise::cuda
