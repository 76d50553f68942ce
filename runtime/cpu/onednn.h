// The door to oneDNN: exceptions become Status, primitives become kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dnnl.hpp"
#include "runtime/cpu/kernel.h"
#include "runtime/ops/activation.h"
#include "runtime/tensor/shape.h"

namespace reprise::cpu {

// How the elements of a tensor lie in memory: row-major, or in the blocks that
// a primitive likes best.
using Layout = dnnl::memory::desc;

// One engine for all; a stream for each user, since streams are not shared
// between threads.
struct OneDnn {
  dnnl::engine engine;
  dnnl::stream stream;

  // INTERNAL if the library cannot make its CPU engine.
  static absl::StatusOr<std::shared_ptr<OneDnn>> Create();

  // Of the library in use: "2.6.3".
  static std::string Version();
};

// Runs `body`, which may call oneDNN, and makes a Status of what it throws:
// UNIMPLEMENTED for what the library does not have, RESOURCE_EXHAUSTED for want
// of memory, INTERNAL for the rest; `what` is put in front.
absl::Status Guarded(absl::string_view what, absl::FunctionRef<void()> body);

// FP32, row-major. Guarded by the caller, as everything that makes a Layout; a
// scalar is seen as [1].
Layout PlainLayout(const Dims& dims);
bool SameLayout(const Layout& a, const Layout& b);

// A primitive that is made, and the layouts that it has chosen.
struct Primitive {
  dnnl::primitive run;
  std::string name;  // of the library's implementation
  Layout src;
  Layout weights;  // empty where it has none
  Layout bias;
  Layout dst;
  Layout scratch;
};

// The primitives in use. Call within Guarded: they throw. Versions 2 and 3 of
// the library describe them differently, which nobody else has to know.

// `attr`: SetActivationAttr. Layouts of the tensors but `weights` and `bias`
// are the library's choice.
struct ConvSpec {
  dnnl::memory::dims src;
  Layout weights;  // with the group in front where there are groups
  bool has_bias = false;
  dnnl::memory::dims dst;
  dnnl::memory::dims strides, dilations, pads_begin, pads_end;
};
Primitive MakeConvPrimitive(const dnnl::engine& engine, const ConvSpec& spec,
                            const dnnl::primitive_attr& attr);

// `bias` may be empty.
struct MatMulSpec {
  Layout a, b, bias, y;
};
Primitive MakeMatMulPrimitive(const dnnl::engine& engine,
                              const MatMulSpec& spec,
                              const dnnl::primitive_attr& attr);

// The layout of the answer is the library's choice.
struct PoolSpec {
  dnnl::algorithm kind = dnnl::algorithm::pooling_max;
  Layout src;
  dnnl::memory::dims dst;
  dnnl::memory::dims strides, kernel, dilations, pads_begin, pads_end;
};
Primitive MakePoolPrimitive(const dnnl::engine& engine, const PoolSpec& spec);

struct Eltwise {
  dnnl::algorithm kind = dnnl::algorithm::eltwise_relu;
  float alpha = 0;
  float beta = 0;
};
Primitive MakeEltwisePrimitive(const dnnl::engine& engine,
                               const Eltwise& eltwise, const Layout& x);
Primitive MakeBinaryPrimitive(const dnnl::engine& engine, dnnl::algorithm kind,
                              const Layout& a, const Layout& b,
                              const Layout& y);
Primitive MakeConcatPrimitive(const dnnl::engine& engine, int axis,
                              const std::vector<Layout>& parts);
Primitive MakeSoftmaxPrimitive(const dnnl::engine& engine, dnnl::algorithm kind,
                               const Layout& x, int axis);

// Over the last axis; a scale, and a shift if asked for.
Primitive MakeLayerNormPrimitive(const dnnl::engine& engine, const Layout& x,
                                 float epsilon, bool shift);
// With scale, shift, mean and variance as inputs.
Primitive MakeBatchNormPrimitive(const dnnl::engine& engine, const Layout& x,
                                 float epsilon);

struct LrnSpec {
  int64_t size = 1;
  float alpha = 0;
  float beta = 0;
  float bias = 1;
};
Primitive MakeLrnPrimitive(const dnnl::engine& engine, const Layout& x,
                           const LrnSpec& spec);

// Which of oneDNN's arguments is which operand of a step.
struct PrimitiveArg {
  int id = 0;  // DNNL_ARG_...
  Layout layout;
  bool output = false;
  size_t operand = 0;  // index in the step's reads or writes
};

// A kernel that runs `primitive`, whose scratchpad is the step's scratch.
// Operands' addresses are noticed when they change. Call within Guarded.
Kernel PrimitiveKernel(std::shared_ptr<OneDnn> dnn, const Primitive& primitive,
                       const std::vector<PrimitiveArg>& args);

// A kernel that copies operand 0 from one layout to another.
Kernel ReorderKernel(std::shared_ptr<OneDnn> dnn, const Layout& from,
                     const Layout& to);

// Copies now, outside of any plan.
void ReorderNow(OneDnn& dnn, const Layout& from, const void* source,
                const Layout& to, void* target);

// Attributes with the caller's scratchpad and `activation` after the operation.
// False if oneDNN has no such activation.
bool SetActivationAttr(const ops::Activation& activation,
                       dnnl::primitive_attr& attr);

// The number of threads that oneDNN uses for calls of this thread, for as long
// as this lives. OpenMP keeps one pool for each thread that calls it.
class ThreadsScope {
 public:
  explicit ThreadsScope(int threads);
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;
  ~ThreadsScope();

 private:
  int before_;
};

}  // namespace reprise::cpu
