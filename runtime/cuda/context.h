// The primary context of a GPU, and the proof that a thread has it current.
#pragma once

#include <cuda.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/driver.h"

namespace reprise::cuda {

// Keeps a GPU's primary context, which libraries share, for as long as it is
// there. No context is ever made besides it.
//
// Lifecycle: goes after everything that was made in it.
// Threads: any.
class PrimaryContext {
 public:
  // `driver` outlives it. RESOURCE_EXHAUSTED or UNAVAILABLE as the driver says.
  static absl::StatusOr<std::unique_ptr<PrimaryContext>> Retain(
      const Driver& driver, CUdevice device);

  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  ~PrimaryContext();

  const Driver& driver() const { return driver_; }
  CUdevice device() const { return device_; }
  CUcontext get() const { return context_; }

 private:
  PrimaryContext(const Driver& driver, CUdevice device, CUcontext context)
      : driver_(driver), device_(device), context_(context) {}

  const Driver& driver_;
  const CUdevice device_;
  const CUcontext context_;
};

// While it is there, this thread has the context current. Every function that
// acts on the current context takes one; those that are given a stream of it
// need none.
//
// Threads: stays on the thread that made it.
class CurrentContext {
 public:
  // The thread's current context, or none, comes back with the destructor.
  static absl::StatusOr<CurrentContext> Enter(const PrimaryContext& context);

  CurrentContext(CurrentContext&& other) noexcept;
  CurrentContext& operator=(CurrentContext&&) = delete;
  ~CurrentContext();

  const PrimaryContext& context() const { return *context_; }
  const Driver& driver() const { return context_->driver(); }

 private:
  CurrentContext(const PrimaryContext& context, CUcontext before)
      : context_(&context), before_(before) {}

  const PrimaryContext* context_;  // null: moved from
  CUcontext before_;
};

}  // namespace reprise::cuda
