// What a loaded model takes from its device.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/graph_probe.h"
#include "runtime/cuda/lane.h"
#include "runtime/cuda/lowering_context.h"
#include "runtime/cuda/measured_steps.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/run_record.h"
#include "runtime/device/device.h"
#include "runtime/device/device_observer.h"
#include "runtime/graph/graph.h"
#include "runtime/prepare/slot_pool.h"

namespace reprise::cuda {

// Computes a node on the host: how constants are folded.
using EvaluateFn = std::function<absl::StatusOr<std::vector<HostTensor>>(
    const ops::NodeView& view, std::span<const ops::TensorType> outputs)>;

// Loads a model as Device::Load does, on another device that computes the same.
// Loaders call it, one at a time; what it returns goes before they are done.
using ReferenceFn = std::function<absl::StatusOr<std::unique_ptr<LoadedModel>>(
    std::shared_ptr<const graph::Graph> graph, const Signature& signature,
    const LoadOptions& options)>;

// All of it outlives the model.
struct CudaModelHost {
  const PrimaryContext& context;
  std::function<absl::StatusOr<Lane*>(int lane)> lane;  // made if it is new
  SlotPool& slots;
  const SlotAllocator& allocate;  // of page-locked memory
  RunRecords& records;
  RunRecord& trial;  // of the loader's runs, which are steps
  Attention& attention;
  MeasuredSteps& measured;
  LoadSteps& steps;  // of `measured`
  Modules& modules;
  const CublasLtHandle* products;  // null: none
  Clock& clock;
  const EvaluateFn& evaluate;
  const ReferenceFn& reference;        // null: nothing is compared
  LoweringOptions lowering;            // what the device has: LoweringFor
  bool strict_graphs = true;           // as in CudaDeviceOptions
  DeviceObserver* observer = nullptr;  // null: nobody counts
  GraphProbe* probe = nullptr;         // null: none
};

}  // namespace reprise::cuda
