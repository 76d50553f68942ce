// What a worker knows of a device: load weights, prepare executables, run them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/device/device_observer.h"
#include "runtime/device/executable.h"
#include "runtime/device/load_steps.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/signature.h"

namespace reprise {

struct LoadOptions {
  std::string model;               // for messages: "digits/1"
  std::string precision = "fp32";  // fp32, tf32, fp16 or bf16
  // Whether Prepare may leave out a rung that is not at least 2 % faster than a
  // larger one: true for the default ladder, false for configured rungs.
  bool may_drop_rungs = false;
  // Fusions that the device must not make, by its names for them, or
  // kAllFusions: so that a numeric difference can be bisected.
  std::vector<std::string> fusions_off = {};
};

inline constexpr absl::string_view kAllFusions = "all";

// Weights of one model version on one device, uploaded once and shared by all
// of its variants.
//
// Threads: Prepare runs on a loader thread, one call at a time, beside serving.
// Lifecycle: destroyed after every Executable made from it.
class LoadedModel {
 public:
  virtual ~LoadedModel() = default;

  // One variant: plans every rung of `ladder` (ascending rows; one entry, 1,
  // when the signature is not batched), runs each at least once, and times it.
  // Rows alone and rows among others are compared (the canary): a model whose
  // rows depend on each other is refused with FAILED_PRECONDITION.
  // INVALID_ARGUMENT: the dims do not fit the graph (names the node).
  // RESOURCE_EXHAUSTED: it needs more memory than is free.
  // UNIMPLEMENTED: a node that this device cannot run (names it).
  // `lane` is the worker's lane on which the executable will run, from 0; a
  // lane that is named for the first time is made.
  virtual absl::StatusOr<std::unique_ptr<Executable>> Prepare(
      const VariantKey& dims, const std::vector<int>& ladder, int lane) = 0;

  virtual int64_t weight_bytes() const = 0;
};

// In bytes.
struct DeviceMemory {
  int64_t total = 0;
  int64_t free = 0;
  int64_t slots = 0;  // of host memory, page-locked if need be, in all slots
  // What a GPU has taken for the inputs and outputs of batches, and, as its
  // free memory shrank by, for device code and for captured graphs.
  int64_t banks = 0;
  int64_t code = 0;
  int64_t graphs = 0;
};

// Any call may fail with an error that IsDeviceFault (fault.h).
//
// Threads: Load may be called from a loader thread beside serving. Executables
// run on the thread that owns the device; Wake may be called from any thread.
class Device {
 public:
  virtual ~Device() = default;

  // Which GPU it is, as CUDA counts them; nullopt: it is none.
  virtual std::optional<int> gpu_index() const { return std::nullopt; }

  // Uploads the weights of `graph` and checks that every node can run here.
  // `signature` is the model's with its free dims (batch apart). The graph is
  // kept alive by the LoadedModel.
  // UNIMPLEMENTED names the node that no implementation takes;
  // INVALID_ARGUMENT a fusion that the device does not have, and those that it
  // has; RESOURCE_EXHAUSTED as Prepare.
  virtual absl::StatusOr<std::unique_ptr<LoadedModel>> Load(
      std::shared_ptr<const graph::Graph> graph, const Signature& signature,
      const LoadOptions& options) = 0;

  // Makes the current call of Executable::Wait, or the next one if there is
  // none, return ABORTED at once, unless its slot is done: how another thread
  // gets the attention of a worker that waits for the device.
  virtual void Wake() = 0;

  virtual DeviceMemory memory() const = 0;

  // Whether a run that takes far too long means that the device is lost, as
  // where nobody can end what runs.
  virtual bool is_lost_when_stuck() const { return false; }

  // From now on tells `observer` of its runs and graphs, and its load_steps()
  // of theirs. Before the first Load, on the thread that owns the device.
  virtual void Observe(DeviceObserver* /*observer*/) {}

  // Where its loaders wait for their turns; null: loading occupies nothing.
  virtual LoadSteps* load_steps() { return nullptr; }
};

}  // namespace reprise
