// From launch to completion: a model of one kernel and 4 KB through the
// Executable, and the same as a bare CUDA program; how many batches a second go
// through the Executable; then copies inside and beside the graph, one lane and
// two.
//
// Status 1: the bar is missed, or an error; 77: there is no GPU.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/status_macros.h"
#include "runtime/device/device.h"
#include "runtime/device/fault.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/infer_signature.h"
#include "runtime/tensor/host_tensor.h"
#include "tests/bench/cuda/bare_batch.h"
#include "tests/bench/cuda/on_first_gpu.h"
#include "tests/conformance/networks/networks.h"
#include "tests/testing/first_gpu.h"
#include "tests/testing/onnx_builder.h"

namespace reprise::bench {
namespace {

constexpr double kBar = 1.2;  // of an Executable to the same program, bare
constexpr int kRounds = 40;
constexpr int kRunsARound = 500;
constexpr int kWarmUps = 200;

absl::Duration Quantile(std::vector<absl::Duration>& times, double q) {
  const auto index =
      static_cast<size_t>(q * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(index),
                   times.end());
  return times[index];
}

double Micros(absl::Duration duration) {
  return absl::ToDoubleMicroseconds(duration);
}

using Run = std::function<absl::Status()>;

absl::Status TimeInto(const Run& run, int count,
                      std::vector<absl::Duration>& times) {
  Clock& clock = RealClock::Get();
  for (int i = 0; i < count; ++i) {
    const absl::Time begun = clock.Now();
    REPRISE_RETURN_IF_ERROR(run());
    times.push_back(clock.Now() - begun);
  }
  return absl::OkStatus();
}

// p50 of each, in rounds that take turns, so that all see the same clocks.
absl::StatusOr<std::vector<std::vector<absl::Duration>>> TakeTurns(
    const std::vector<Run>& runs, int rounds, int runs_a_round) {
  std::vector<std::vector<absl::Duration>> times(runs.size());
  std::vector<absl::Duration> unused;
  for (const Run& run : runs) {
    REPRISE_RETURN_IF_ERROR(TimeInto(run, kWarmUps, unused));
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < runs.size(); ++i) {
      REPRISE_RETURN_IF_ERROR(TimeInto(runs[i], runs_a_round, times[i]));
    }
  }
  return times;
}

struct Model {
  std::unique_ptr<LoadedModel> loaded;
  std::unique_ptr<Executable> executable;
};

absl::StatusOr<Model> OneKernel(Device& device) {
  testing::OnnxBuilder onnx(17);
  onnx.Input("x", {"N", 1024})
      .Node("Relu", {"x"}, {"y"})
      .Output("y", {"N", 1024});
  REPRISE_ASSIGN_OR_RETURN(graph::Graph graph,
                           onnx_import::ImportModel(onnx.Bytes(), {}));
  REPRISE_ASSIGN_OR_RETURN(auto inferred, ops::InferSignature(graph, {}));
  Model model;
  REPRISE_ASSIGN_OR_RETURN(
      model.loaded,
      device.Load(std::make_shared<graph::Graph>(std::move(graph)),
                  inferred.signature, {.model = "one_kernel/1"}));
  REPRISE_ASSIGN_OR_RETURN(model.executable,
                           model.loaded->Prepare({}, {1}, /*lane=*/0));
  return model;
}

Run OneBatch(BareLane& lane, Copies copies, Timing timing,
             std::vector<absl::Duration>* graphs = nullptr) {
  return [&lane, copies, timing, graphs]() -> absl::Status {
    REPRISE_RETURN_IF_ERROR(lane.Submit(copies, timing));
    REPRISE_RETURN_IF_ERROR(lane.Await());
    if (graphs != nullptr) graphs->push_back(lane.graph());
    return absl::OkStatus();
  };
}

// Whether the bar is reached.
absl::StatusOr<bool> CompareLaunches(Executable& executable, BareLane& bare) {
  const SlotLease slot = executable.AcquireSlot();
  const auto through = [&]() -> absl::Status {
    REPRISE_RETURN_IF_ERROR(executable.Submit(*slot, 1));
    return executable.Wait(*slot, absl::InfiniteFuture()).status();
  };
  const std::array<const char*, 4> names = {"Executable", "bare, timed alike",
                                            "bare, not timed",
                                            "bare, not timed, copies inside"};
  REPRISE_ASSIGN_OR_RETURN(
      auto times,
      TakeTurns({through, OneBatch(bare, Copies::kBeside, Timing::kStamps),
                 OneBatch(bare, Copies::kBeside, Timing::kNone),
                 OneBatch(bare, Copies::kInside, Timing::kNone)},
                kRounds, kRunsARound));
  std::printf("\n4 KB, one kernel, launch to completion, %d runs each\n\n",
              kRounds * kRunsARound);
  std::printf("| program | p50 us | p99 us | mean us |\n|---|---|---|---|\n");
  std::vector<double> p50;
  for (size_t i = 0; i < times.size(); ++i) {
    p50.push_back(Micros(Quantile(times[i], 0.5)));
    const absl::Duration sum =
        std::accumulate(times[i].begin(), times[i].end(), absl::ZeroDuration());
    std::printf("| %s | %.2f | %.2f | %.2f |\n", names[i], p50[i],
                Micros(Quantile(times[i], 0.99)),
                Micros(sum) / static_cast<double>(times[i].size()));
  }
  const double ratio = p50[0] / p50[1];
  std::printf("\nExecutable / bare, timed alike: %.3f (bar %.1f)%s\n", ratio,
              kBar, ratio <= kBar ? "" : " MISSED");
  std::printf("Executable / bare, not timed: %.3f, %.2f us apart\n",
              p50[0] / p50[2], p50[0] - p50[2]);
  return ratio <= kBar;
}

// How a graph can be timed: what that takes of a batch of 4 KB, and what it
// says of the graph.
absl::Status TimingsTable(const cuda::CurrentContext& current,
                          cuda::Modules& modules) {
  constexpr std::array<std::pair<Timing, const char*>, kTimings> kNames = {
      {{Timing::kNone, "not"},
       {Timing::kEvents, "events around it"},
       {Timing::kNodes, "event nodes"},
       {Timing::kMoved, "event nodes, moved for each launch"},
       {Timing::kStamps, "stamps by kernels"}}};
  std::printf(
      "\n| timed by | kernels | batch p50 us | graph p50 us |\n"
      "|---|---|---|---|\n");
  for (const int kernels : {1, 2, 8, 50}) {
    REPRISE_ASSIGN_OR_RETURN(
        const auto lane, BareLane::Create(current, modules, {4096, kernels}));
    std::array<std::vector<absl::Duration>, kTimings> graphs;
    std::vector<Run> runs;
    for (size_t i = 0; i < kNames.size(); ++i) {
      runs.push_back(
          OneBatch(*lane, Copies::kBeside, kNames[i].first, &graphs[i]));
    }
    REPRISE_ASSIGN_OR_RETURN(auto times, TakeTurns(runs, 20, 100));
    for (size_t i = 0; i < kNames.size(); ++i) {
      std::printf("| %s | %d | %.2f | %.2f |\n", kNames[i].second, kernels,
                  Micros(Quantile(times[i], 0.5)),
                  Micros(Quantile(graphs[i], 0.5)));
    }
  }
  return absl::OkStatus();
}

// Of one batch after the other, none of them waited for until the end.
absl::StatusOr<double> MicrosABatch(const std::vector<BareLane*>& lanes,
                                    Copies copies, int batches) {
  Clock& clock = RealClock::Get();
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const absl::Time begun = clock.Now();
    for (int i = 0; i < batches; ++i) {
      BareLane& lane = *lanes[static_cast<size_t>(i) % lanes.size()];
      REPRISE_RETURN_IF_ERROR(lane.Submit(copies, Timing::kNone));
    }
    for (BareLane* lane : lanes) REPRISE_RETURN_IF_ERROR(lane->Await());
    const double micros = Micros(clock.Now() - begun) / batches;
    if (round == 0 || micros < best) best = micros;
  }
  return best;
}

absl::Status CopiesRow(const cuda::CurrentContext& current,
                       cuda::Modules& modules, const char* name,
                       const BareShape& shape) {
  REPRISE_ASSIGN_OR_RETURN(const auto one,
                           BareLane::Create(current, modules, shape));
  REPRISE_ASSIGN_OR_RETURN(const auto other,
                           BareLane::Create(current, modules, shape));
  std::vector<Run> runs;
  for (const Copies copies :
       {Copies::kInside, Copies::kBeside, Copies::kStreams}) {
    runs.push_back(OneBatch(*one, copies, Timing::kNone));
  }
  REPRISE_ASSIGN_OR_RETURN(auto times, TakeTurns(runs, 5, 100));
  constexpr int kBatches = 400;
  REPRISE_ASSIGN_OR_RETURN(
      const double inside,
      MicrosABatch({one.get()}, Copies::kInside, kBatches));
  REPRISE_ASSIGN_OR_RETURN(
      const double beside,
      MicrosABatch({one.get()}, Copies::kBeside, kBatches));
  REPRISE_ASSIGN_OR_RETURN(
      const double two,
      MicrosABatch({one.get(), other.get()}, Copies::kBeside, kBatches));
  REPRISE_ASSIGN_OR_RETURN(
      const double streams,
      MicrosABatch({one.get()}, Copies::kStreams, kBatches));
  std::printf("| %s, %d | %.1f / %.1f / %.1f | %.1f / %.1f / %.1f / %.1f |\n",
              name, shape.kernels, Micros(Quantile(times[0], 0.5)),
              Micros(Quantile(times[1], 0.5)), Micros(Quantile(times[2], 0.5)),
              inside, beside, two, streams);
  return absl::OkStatus();
}

absl::Status CopiesTable(const cuda::CurrentContext& current,
                         cuda::Modules& modules) {
  std::printf(
      "\nCopies of a batch; output 4 KB\n\n"
      "| input, kernels | alone: inside / beside / own streams, us "
      "| back to back: inside / beside / two lanes / own streams, us |\n"
      "|---|---|---|\n");
  constexpr std::array<std::pair<const char*, size_t>, 4> kInputs = {
      {{"4 KB", 4096},
       {"602 KB", 602112},
       {"4.8 MB", 4816896},
       {"19.3 MB", 19267584}}};
  for (const auto& [name, bytes] : kInputs) {
    for (const int kernels : {1, 50}) {
      REPRISE_RETURN_IF_ERROR(
          CopiesRow(current, modules, name, {bytes, kernels}));
    }
  }
  return absl::OkStatus();
}

// Batches a second of `rows` rows, with as many submitted ahead as there are
// slots.
absl::StatusOr<double> BatchesASecond(Executable& executable, int rows) {
  constexpr size_t kBatches = 20000;
  const std::vector<HostTensor> inputs =
      conformance::MakeInputs(executable.signature(), rows);
  std::vector<SlotLease> slots;
  while (SlotLease slot = executable.AcquireSlot()) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      std::ranges::copy(inputs[k].bytes(),
                        slot->input(static_cast<int>(k)).begin());
    }
    slots.push_back(std::move(slot));
  }
  if (slots.empty()) return absl::InternalError("no slot");
  Clock& clock = RealClock::Get();
  const absl::Time begun = clock.Now();
  for (size_t i = 0; i < kBatches + slots.size(); ++i) {
    Slot& slot = *slots[i % slots.size()];
    if (i >= slots.size()) {
      REPRISE_RETURN_IF_ERROR(
          executable.Wait(slot, absl::InfiniteFuture()).status());
    }
    if (i < kBatches) REPRISE_RETURN_IF_ERROR(executable.Submit(slot, rows));
  }
  return kBatches / absl::ToDoubleSeconds(clock.Now() - begun);
}

absl::Status BackToBackRow(Device& device, const conformance::Network& network,
                           const std::vector<int>& all_rows) {
  REPRISE_ASSIGN_OR_RETURN(const conformance::ReadNetwork read,
                           conformance::Read(network));
  const std::string name = absl::StrCat(network.name, "/1");
  REPRISE_ASSIGN_OR_RETURN(
      const auto model,
      device.Load(read.graph, read.signature, {.model = name}));
  REPRISE_ASSIGN_OR_RETURN(const auto executable,
                           model->Prepare({}, all_rows, /*lane=*/0));
  for (const int rows : all_rows) {
    REPRISE_ASSIGN_OR_RETURN(const double rate,
                             BatchesASecond(*executable, rows));
    std::printf("| %s | %d | %.0f | %.0f |\n", network.name.c_str(), rows, rate,
                rate * rows);
  }
  return absl::OkStatus();
}

absl::Status BackToBackTable(Device& device) {
  std::printf(
      "\nExecutable, back to back, all slots in use\n\n"
      "| model | rows | batches/s | rows/s |\n|---|---|---|---|\n");
  for (const char* const name : {"one_kernel", "mlp"}) {
    const auto& networks = conformance::Networks();
    const auto network =
        std::ranges::find(networks, name, &conformance::Network::name);
    std::vector<int> rows = {1};
    if (network->max_rows > 8) rows.push_back(8);
    rows.push_back(network->max_rows);
    const absl::Status status = BackToBackRow(device, *network, rows);
    if (absl::IsUnavailable(status) && !IsDeviceFault(status)) {
      std::printf("| %s | skipped: %s | | |\n", name,
                  std::string(status.message()).c_str());
      continue;
    }
    REPRISE_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status RunAll(const cuda::CurrentContext& current,
                    cuda::Modules& modules) {
  REPRISE_ASSIGN_OR_RETURN(const std::unique_ptr<Device> device,
                           testing::MakeFirstGpuDevice(RealClock::Get()));
  bool reached = false;
  {
    REPRISE_ASSIGN_OR_RETURN(const Model model, OneKernel(*device));
    REPRISE_ASSIGN_OR_RETURN(const auto bare,
                             BareLane::Create(current, modules, {4096, 1}));
    REPRISE_ASSIGN_OR_RETURN(reached,
                             CompareLaunches(*model.executable, *bare));
  }
  REPRISE_RETURN_IF_ERROR(BackToBackTable(*device));
  REPRISE_RETURN_IF_ERROR(TimingsTable(current, modules));
  REPRISE_RETURN_IF_ERROR(CopiesTable(current, modules));
  return reached ? absl::OkStatus()
                 : absl::DeadlineExceededError("the bar is missed");
}

}  // namespace
}  // namespace reprise::bench

int main() { return reprise::bench::OnFirstGpu(reprise::bench::RunAll); }
