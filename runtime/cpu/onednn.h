// The door to oneDNN: exceptions become Status, primitives become kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
};

// Runs `body`, which may call oneDNN, and makes a Status of what it throws:
// UNIMPLEMENTED for what the library does not have, RESOURCE_EXHAUSTED for want
// of memory, INTERNAL for the rest; `what` is put in front.
absl::Status Guarded(absl::string_view what, absl::FunctionRef<void()> body);

// FP32, row-major. Guarded by the caller, as everything that makes a Layout; a
// scalar is seen as [1].
Layout PlainLayout(const Dims& dims);
bool SameLayout(const Layout& a, const Layout& b);

// Which of oneDNN's arguments is which operand of a step.
struct PrimitiveArg {
  int id = 0;  // DNNL_ARG_...
  Layout layout;
  bool output = false;
  size_t operand = 0;  // index in the step's reads or writes
};

// A kernel that runs `primitive`, whose scratchpad is the step's scratch.
// Operands' addresses are noticed when they change. Call within Guarded.
Kernel PrimitiveKernel(std::shared_ptr<OneDnn> dnn,
                       const dnnl::primitive& primitive,
                       const std::vector<PrimitiveArg>& args,
                       const Layout& scratch);

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
