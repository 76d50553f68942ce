// A batch as a bare CUDA program runs it: copy in, a captured graph of some
// kernels, copy out; what an Executable is measured beside.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/cuda/captured_graph.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/graph_stamps.h"
#include "runtime/cuda/handle.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/module.h"

namespace reprise::bench {

// Where the two copies of a batch are.
enum class Copies {
  kInside,   // nodes of the graph
  kBeside,   // on the graph's stream, before and after it
  kStreams,  // on streams of their own, with events between them
};

// How a graph is timed; at the end is an event, which has no time.
enum class Timing {
  kNone,
  kEvents,  // one before and one after the graph
  kNodes,   // the same as nodes of the graph
  kMoved,   // nodes that are given other events before each launch
  kStamps,  // by GraphStamps, as an Executable's
};
inline constexpr int kTimings = 5;

struct BareShape {
  size_t input_bytes = 0;  // a multiple of 16; copied in whole
  int kernels = 1;         // each reads and writes all of it
};
inline constexpr size_t kBareOutputBytes = 4096;  // copied out

// One lane with two banks, which batches take in turns. Fails as the driver.
//
// Threads: one, with the context current.
class BareLane {
 public:
  static absl::StatusOr<std::unique_ptr<BareLane>> Create(
      const cuda::CurrentContext& current, cuda::Modules& modules,
      const BareShape& shape);

  // Puts one batch into the streams.
  absl::Status Submit(Copies copies, Timing timing);
  // Polls until the last one is done, and reads its time, if that was taken.
  absl::Status Await();
  // Of the last graph that was timed.
  absl::Duration graph() const { return graph_; }

 private:
  static constexpr int kBanks = 2;

  struct Bank {
    cuda::PinnedBuffer in;
    cuda::PinnedBuffer out;
    cuda::DeviceBuffer data;
    std::array<cuda::CapturedGraph, kTimings> beside;  // by Timing
    cuda::CapturedGraph inside;
    cuda::UniqueEvent copied_in;
    cuda::UniqueEvent graph_begin;
    cuda::UniqueEvent graph_end;
    cuda::UniqueEvent done;
    std::array<CUgraphNode, 2> nodes = {};  // of kMoved
  };

  explicit BareLane(const cuda::Driver& driver, const BareShape& shape)
      : driver_(driver), shape_(shape) {}

  absl::Status MakeBank(const cuda::CurrentContext& current, CUfunction kernel,
                        Bank& bank);
  absl::Status IssueKernels(CUfunction kernel, CUdeviceptr data,
                            CUstream stream) const;
  absl::Status FindNodes(Bank& bank) const;
  absl::Status IssueTimed(Timing timing, CUfunction kernel, Bank& bank,
                          CUstream stream) const;
  absl::Status CopyIn(Bank& bank, CUstream stream) const;
  absl::Status CopyOut(Bank& bank, CUstream stream) const;
  absl::Status Record(const cuda::UniqueEvent& event, CUstream stream) const;
  absl::Status WaitFor(const cuda::UniqueEvent& event, CUstream stream) const;

  const cuda::Driver& driver_;
  const BareShape shape_;
  cuda::UniqueStream compute_;
  cuda::UniqueStream copy_in_;
  cuda::UniqueStream copy_out_;
  std::unique_ptr<cuda::GraphStamps> stamps_;
  uint64_t replay_ = 0;  // of the last graph that has stamps
  decltype(&cuEventRecordWithFlags) record_node_ = nullptr;
  decltype(&cuGraphExecEventRecordNodeSetEvent) move_node_ = nullptr;
  std::array<Bank, kBanks> banks_;
  int turn_ = 0;
  Timing timing_ = Timing::kNone;  // of the last batch
  absl::Duration graph_;
};

}  // namespace reprise::bench
