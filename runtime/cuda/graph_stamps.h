// How long each replay of a lane's graphs takes, by the GPU's own clock.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/module.h"

namespace reprise::cuda {

// A kernel before all others of a graph and one after them take the time
// (kernels/stamp.cu), and the last one writes both, with the number of the
// replay, to host memory. Events around a graph, or as its nodes, would count
// what it takes to launch a graph and to record an event, some microseconds,
// and take longer themselves.
//
// The clock counts nanoseconds and is one for all lanes of a GPU.
//
// Lifecycle: the context and the modules outlive it; it outlives the graphs
// that have its kernels. Threads: Number on that of whoever has the device.
class GraphStamps {
 public:
  // Replays whose times are kept. More than can be under way on a lane.
  static constexpr int kKept = 64;

  // `modules` has the library's kernels.
  static absl::StatusOr<std::unique_ptr<GraphStamps>> Create(
      const CurrentContext& current, Modules& modules);

  // To be issued first and last to a stream that is being captured.
  absl::Status Begin(CUstream stream) const;
  absl::Status End(CUstream stream) const;

  // The number of the replay that has just been launched: each is asked for
  // once.
  uint64_t Number() { return launched_++; }

  struct Span {
    absl::Duration begun;  // since the clock's zero
    absl::Duration took;
  };
  // Of a replay that is done. INTERNAL: others have been since, or none was.
  absl::StatusOr<Span> Of(uint64_t replay) const;

 private:
  explicit GraphStamps(const Driver& driver) : driver_(driver) {}

  absl::Status Launch(CUfunction kernel, CUstream stream) const;

  const Driver& driver_;
  CUfunction begin_ = nullptr;
  CUfunction end_ = nullptr;
  DeviceBuffer state_;  // kernels::StampState
  PinnedBuffer ring_;   // kernels::Stamp
  uint64_t launched_ = 0;
};

}  // namespace reprise::cuda
