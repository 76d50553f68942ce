// A chain of element-wise operators in three ways: one kernel whose PTX is
// written at load; one kernel of templates, from when the program was built;
// and one of the device's kernels for each operator.
//
// Status 1: an error, or a wrong answer; 77: there is no GPU.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/bound_program.h"
#include "runtime/cuda/captured_graph.h"
#include "runtime/cuda/cuda_lowering.h"
#include "runtime/cuda/graph_stamps.h"
#include "runtime/cuda/kernels/params.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/ops/launch.h"
#include "runtime/cuda/program.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/weight_store.h"
#include "runtime/device/load_steps.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/infer_signature.h"
#include "tests/bench/cuda/chain_model.h"
#include "tests/bench/cuda/on_first_gpu.h"

asm(R"(
  .pushsection .rodata, "a"
  .balign 64
  .global reprise_chain_kernels
  .hidden reprise_chain_kernels
reprise_chain_kernels:
  .incbin ")" REPRISE_CHAIN_FATBIN R"("
  .global reprise_chain_kernels_end
  .hidden reprise_chain_kernels_end
reprise_chain_kernels_end:
  .popsection
)");
extern "C" const std::byte reprise_chain_kernels[];
extern "C" const std::byte reprise_chain_kernels_end[];

namespace reprise::bench {
namespace {

constexpr int kChainsInGraph = 50;
constexpr int kRounds = 25;
constexpr int kWarmUps = 3;

enum class Way { kWritten, kTemplates, kEach };
constexpr std::array<Way, 3> kWays = {Way::kWritten, Way::kTemplates,
                                      Way::kEach};
constexpr std::array<const char*, 3> kWayNames = {"PTX at load", "templates",
                                                  "a kernel each"};

absl::Duration Median(std::vector<absl::Duration>& times) {
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// What it takes until a chain's code can be launched.
struct CodeTimes {
  absl::Duration lower;  // the writing of it included
  absl::Duration add;    // cuModuleLoadData, which compiles PTX
  absl::Duration find;   // loading the function
};

// A graph of chains, one after the other over the same buffers, and what its
// kernels read.
struct Captured {
  Captured(const cuda::PrimaryContext& context, LoadSteps& steps)
      : weights(context, steps) {}

  graph::Graph model;
  cuda::WeightStore weights;
  cuda::DeviceBuffer arena;
  cuda::CapturedGraph graph;          // dies first
  std::vector<absl::Duration> times;  // of a chain
};

class ChainBench {
 public:
  // `modules` has the library's kernels.
  ChainBench(const cuda::CurrentContext& current, cuda::Modules& modules)
      : current_(current),
        driver_(current.driver()),
        modules_(modules),
        steps_(clock_) {}

  absl::Status Start();
  // Prints a row of the table, once the answers are right.
  absl::Status Compare(const ChainShape& shape);
  void PrintCodeTimes() const;

 private:
  absl::StatusOr<std::unique_ptr<Captured>> Capture(const ChainShape& shape,
                                                    Way way);
  absl::StatusOr<cuda::Program> Lower(const ChainShape& shape, Way way,
                                      Captured& captured, CodeTimes& times);
  absl::Status LoadCode(const cuda::Program& program, CodeTimes& times);
  absl::Status Record(cuda::BoundProgram& program, Captured& captured);
  absl::Status TakeBuffers(const ChainShape& shape);
  absl::StatusOr<absl::Duration> Replay(const Captured& captured);
  absl::Status Check(const ChainShape& shape, const Captured& captured);
  absl::Status Call(CUresult result, const char* what) const {
    return cuda::ToStatus(driver_, result, what);
  }
  absl::Status Synchronize() const {
    return Call(driver_.StreamSynchronize(stream_.get()), "a run of chains");
  }

  const cuda::CurrentContext& current_;
  const cuda::Driver& driver_;
  cuda::Modules& modules_;
  Clock& clock_ = RealClock::Get();
  LoadSteps steps_;
  cuda::UniqueStream stream_;
  std::unique_ptr<cuda::GraphStamps> stamps_;
  cuda::DeviceBuffer in_;
  cuda::DeviceBuffer out_;
  std::set<std::string> loaded_;           // modules, by name
  std::map<std::string, CodeTimes> code_;  // by the chain
};

absl::Status ChainBench::Start() {
  REPRISE_ASSIGN_OR_RETURN(stream_, cuda::MakeStream(current_));
  REPRISE_ASSIGN_OR_RETURN(stamps_,
                           cuda::GraphStamps::Create(current_, modules_));
  return modules_.Add(
      current_, "chains",
      std::span(reprise_chain_kernels, reprise_chain_kernels_end));
}

// The templates' kernel takes the place of the one that is written.
absl::StatusOr<cuda::Program> ChainBench::Lower(const ChainShape& shape,
                                                Way way, Captured& captured,
                                                CodeTimes& times) {
  REPRISE_ASSIGN_OR_RETURN(captured.model,
                           onnx_import::ImportModel(ChainModel(shape), {}));
  REPRISE_ASSIGN_OR_RETURN(auto inferred,
                           ops::InferSignature(captured.model, {}));
  REPRISE_ASSIGN_OR_RETURN(
      const ops::BoundGraph bound,
      ops::Bind(captured.model, inferred.signature, /*rows=*/1, {}));
  const bool each = way == Way::kEach;
  const cuda::LoweringOptions options{.chains = each ? cuda::Chains::kNodeByNode
                                                     : cuda::Chains::kWritten};
  const absl::Time begun = clock_.Now();
  REPRISE_ASSIGN_OR_RETURN(
      cuda::Program program,
      cuda::Lower(bound, captured.weights.list(), options));
  times.lower = clock_.Now() - begun;
  const size_t steps = each ? static_cast<size_t>(shape.links) : 1;
  if (program.steps.size() != steps) {
    return absl::InternalError(absl::StrCat("lowered to ", program.steps.size(),
                                            " steps, not ", steps));
  }
  if (way != Way::kTemplates) return program;
  auto& launch = std::get<cuda::KernelLaunch>(program.steps[0].at(0));
  const auto pack = kernels::PackOf(static_cast<int>(ElementSize(shape.type)));
  launch = cuda::FlatLaunch(
      absl::StrCat("chain_", shape.links, "_", cuda::TypeSuffix(shape.type)),
      shape.elements / pack,
      {launch.arguments.at(0), launch.arguments.at(1),
       cuda::ByValue(kernels::UnaryParams{.elements = shape.elements})});
  program.modules.clear();
  return program;
}

// As the device does (CudaLoadedModel).
absl::Status ChainBench::LoadCode(const cuda::Program& program,
                                  CodeTimes& times) {
  for (const cuda::GeneratedModule& module : program.modules) {
    if (!loaded_.insert(module.name).second) continue;
    const absl::Time begun = clock_.Now();
    REPRISE_RETURN_IF_ERROR(modules_.Add(
        current_, module.name,
        std::as_bytes(std::span(module.ptx.c_str(), module.ptx.size() + 1))));
    const absl::Time added = clock_.Now();
    REPRISE_RETURN_IF_ERROR(modules_.Find(current_, module.name, 0).status());
    times.add += added - begun;
    times.find += clock_.Now() - added;
  }
  return absl::OkStatus();
}

absl::Status ChainBench::Record(cuda::BoundProgram& program,
                                Captured& captured) {
  const auto issue = [&](CUstream stream) -> absl::Status {
    REPRISE_RETURN_IF_ERROR(stamps_->Begin(stream));
    for (int i = 0; i < kChainsInGraph; ++i) {
      REPRISE_RETURN_IF_ERROR(program.Issue(driver_, stream));
    }
    return stamps_->End(stream);
  };
  const size_t least = kChainsInGraph * program.actions() + 2;
  size_t nodes = 0;
  REPRISE_ASSIGN_OR_RETURN(cuda::UniqueGraph graph,
                           cuda::Record(current_, stream_.get(), issue,
                                        {.least_nodes = least}, &nodes));
  REPRISE_ASSIGN_OR_RETURN(
      captured.graph, cuda::Instantiate(current_, std::move(graph), nodes));
  REPRISE_RETURN_IF_ERROR(
      Call(driver_.GraphUpload(captured.graph.exec.get(), stream_.get()),
           "cuGraphUpload"));
  return Synchronize();
}

absl::StatusOr<std::unique_ptr<Captured>> ChainBench::Capture(
    const ChainShape& shape, Way way) {
  auto captured = std::make_unique<Captured>(current_.context(), steps_);
  CodeTimes times;
  REPRISE_ASSIGN_OR_RETURN(const cuda::Program program,
                           Lower(shape, way, *captured, times));
  REPRISE_RETURN_IF_ERROR(LoadCode(program, times));
  if (way == Way::kWritten) {
    code_.try_emplace(
        absl::StrCat(shape.links, " | ", cuda::TypeSuffix(shape.type)), times);
  }
  REPRISE_RETURN_IF_ERROR(captured->weights.Upload(current_, stream_.get()));
  REPRISE_ASSIGN_OR_RETURN(
      captured->arena,
      cuda::DeviceBuffer::Allocate(current_, program.plan.arena_bytes));
  const std::array<CUdeviceptr, 1> inputs = {in_.address()};
  const std::array<CUdeviceptr, 1> outputs = {out_.address()};
  REPRISE_ASSIGN_OR_RETURN(
      cuda::BoundProgram bound,
      cuda::BoundProgram::Create(current_, program,
                                 {.arena = captured->arena.address(),
                                  .constants = captured->weights.addresses(),
                                  .inputs = inputs,
                                  .outputs = outputs},
                                 modules_, /*products=*/nullptr));
  REPRISE_RETURN_IF_ERROR(Record(bound, *captured));
  return captured;
}

absl::Status ChainBench::TakeBuffers(const ChainShape& shape) {
  const std::vector<std::byte> input = ChainInput(shape);
  REPRISE_ASSIGN_OR_RETURN(
      in_, cuda::DeviceBuffer::Allocate(current_, BytesOf(shape)));
  REPRISE_ASSIGN_OR_RETURN(
      out_, cuda::DeviceBuffer::Allocate(current_, BytesOf(shape)));
  REPRISE_RETURN_IF_ERROR(
      Call(driver_.MemcpyHtoDAsync(in_.address(), input.data(), input.size(),
                                   stream_.get()),
           "copying an input"));
  return Synchronize();
}

absl::StatusOr<absl::Duration> ChainBench::Replay(const Captured& captured) {
  REPRISE_RETURN_IF_ERROR(
      Call(driver_.GraphLaunch(captured.graph.exec.get(), stream_.get()),
           "cuGraphLaunch"));
  const uint64_t replay = stamps_->Number();
  REPRISE_RETURN_IF_ERROR(Synchronize());
  REPRISE_ASSIGN_OR_RETURN(const auto span, stamps_->Of(replay));
  return span.took / kChainsInGraph;
}

// What is not written is NaN.
absl::Status ChainBench::Check(const ChainShape& shape,
                               const Captured& captured) {
  std::vector<std::byte> output(static_cast<size_t>(BytesOf(shape)));
  REPRISE_RETURN_IF_ERROR(Call(
      driver_.MemsetD8Async(out_.address(), 0xff, output.size(), stream_.get()),
      "poisoning an output"));
  REPRISE_RETURN_IF_ERROR(Replay(captured).status());
  REPRISE_RETURN_IF_ERROR(
      Call(driver_.MemcpyDtoHAsync(output.data(), out_.address(), output.size(),
                                   stream_.get()),
           "copying an output"));
  REPRISE_RETURN_IF_ERROR(Synchronize());
  return CheckChain(shape, output);
}

absl::Status ChainBench::Compare(const ChainShape& shape) {
  REPRISE_RETURN_IF_ERROR(TakeBuffers(shape));
  std::array<std::unique_ptr<Captured>, 3> ways;
  for (size_t i = 0; i < kWays.size(); ++i) {
    REPRISE_ASSIGN_OR_RETURN(ways[i], Capture(shape, kWays[i]));
    const absl::Status right = Check(shape, *ways[i]);
    if (!right.ok()) return Annotate(right, kWayNames[i]);
  }
  // In turns, so that all see the same clocks.
  for (int round = 0; round < kWarmUps + kRounds; ++round) {
    for (const auto& captured : ways) {
      REPRISE_ASSIGN_OR_RETURN(const absl::Duration took, Replay(*captured));
      if (round >= kWarmUps) captured->times.push_back(took);
    }
  }
  std::array<absl::Duration, 3> took;
  for (size_t i = 0; i < ways.size(); ++i) took[i] = Median(ways[i]->times);
  // The least that any way must move.
  const double gigabytes = 2e-9 * static_cast<double>(BytesOf(shape));
  std::printf("| %d | %s | %ld |", shape.links,
              std::string(cuda::TypeSuffix(shape.type)).c_str(),
              static_cast<long>(shape.elements));
  for (const absl::Duration time : took) {
    std::printf(" %.2f |", absl::ToDoubleMicroseconds(time));
  }
  std::printf(" %.2f | %.2f |", absl::FDivDuration(took[0], took[1]),
              absl::FDivDuration(took[2], took[0]));
  for (const absl::Duration time : took) {
    std::printf(" %.0f |", gigabytes / absl::ToDoubleSeconds(time));
  }
  std::printf("\n");
  return absl::OkStatus();
}

void ChainBench::PrintCodeTimes() const {
  std::printf(
      "\nUntil the code of a chain is ready, nothing being cached\n\n"
      "| operators | type | lowering, ms | cuModuleLoadData, ms "
      "| loading the function, ms |\n|---|---|---|---|---|\n");
  for (const auto& [chain, times] : code_) {
    std::printf("| %s | %.2f | %.2f | %.2f |\n", chain.c_str(),
                absl::ToDoubleMilliseconds(times.lower),
                absl::ToDoubleMilliseconds(times.add),
                absl::ToDoubleMilliseconds(times.find));
  }
}

absl::Status RunAll(const cuda::CurrentContext& current,
                    cuda::Modules& modules) {
  ChainBench bench(current, modules);
  REPRISE_RETURN_IF_ERROR(bench.Start());
  std::printf(
      "\nA chain of element-wise operators: us of one of %d in a graph, p50 of "
      "%d replays; GB/s of its input and output, which stay in the L2 cache "
      "where they fit\n\n"
      "| operators | type | elements | PTX at load, us | templates, us "
      "| a kernel each, us | PTX / templates | each / PTX | PTX, GB/s "
      "| templates, GB/s | each, GB/s |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n",
      kChainsInGraph, kRounds);
  for (const DType type : {DType::kFp32, DType::kFp16}) {
    for (const int links : {2, 4, 8}) {
      for (const int64_t elements : {1 << 10, 1 << 16, 1 << 20, 1 << 24}) {
        REPRISE_RETURN_IF_ERROR(bench.Compare({links, type, elements}));
      }
    }
  }
  bench.PrintCodeTimes();
  return absl::OkStatus();
}

int Main() {
  // What another run has compiled is not to be measured. The driver reads it
  // when it is opened.
  setenv("CUDA_CACHE_DISABLE", "1", /*overwrite=*/1);
  return OnFirstGpu(RunAll);
}

}  // namespace
}  // namespace reprise::bench

// What is thrown ends the program, as it should.
int main() { return reprise::bench::Main(); }  // NOLINT
