// The daemon on the first GPU with instruments of tests: reprised, and
//   --test-stamps=FILE       an independent timer in every graph (GraphStamps)
//   --test-faulty-sinh       kFaultyKernel in place of the kernel for Sinh
//   --test-fill-at-graph=N   the GPU's memory is full while graph N is captured
// Flags of reprised that say how models are loaded onto a GPU have no effect;
// --device=cpu is refused.
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/base/clock.h"
#include "runtime/base/status_macros.h"
#include "server/daemon.h"
#include "server/exit_code.h"
#include "tests/gpu/instruments.h"
#include "tests/gpu/test_kernels.h"
#include "tests/testing/first_gpu.h"

namespace reprise::gpu_test {
namespace {

constexpr absl::Duration kFilledFor = absl::Seconds(4);

struct Flags {
  std::string stamps;
  bool faulty_sinh = false;
  int fill_at_graph = 0;
};

// Takes the test's own flags out of `args`, and has the rest mean one GPU.
// Returns what is wrong with them; empty: nothing.
std::string TakeFlags(std::vector<const char*>* args, Flags* flags) {
  std::vector<const char*> kept;
  for (const char* const arg : *args) {
    absl::string_view text = arg;
    if (text == "--test-faulty-sinh") {
      flags->faulty_sinh = true;
    } else if (absl::ConsumePrefix(&text, "--test-stamps=")) {
      if (text.empty()) return "--test-stamps: expected a file";
      flags->stamps = std::string(text);
    } else if (absl::ConsumePrefix(&text, "--test-fill-at-graph=")) {
      if (!absl::SimpleAtoi(text, &flags->fill_at_graph) ||
          flags->fill_at_graph < 1) {
        return "--test-fill-at-graph: expected a number from 1";
      }
    } else if (absl::StartsWith(text, "--device") ||
               absl::StartsWith(text, "--gpus")) {
      return absl::StrCat(text, ": this daemon serves on the first GPU only");
    } else {
      kept.push_back(arg);
    }
  }
  if (!flags->stamps.empty() && flags->fill_at_graph > 0) {
    return "--test-stamps and --test-fill-at-graph exclude each other";
  }
  kept.insert(kept.end(), {"--device=cuda", "--gpus=0"});
  args->swap(kept);
  return "";
}

// The probe outlives the device, and so the server.
absl::StatusOr<std::unique_ptr<Device>> Make(
    const Flags& flags, std::unique_ptr<cuda::GraphProbe>* probe) {
  Clock& clock = RealClock::Get();
  REPRISE_ASSIGN_OR_RETURN(const cuda::GpuInfo gpu, testing::FirstGpu());
  REPRISE_ASSIGN_OR_RETURN(const cuda::Driver* const driver,
                           testing::TheDriver());
  REPRISE_ASSIGN_OR_RETURN(cuda::CudaDeviceOptions options,
                           testing::FirstGpuOptions());
  if (!flags.stamps.empty()) {
    REPRISE_ASSIGN_OR_RETURN(
        *probe, GraphStamps::Create(*driver, gpu.device, flags.stamps, clock));
  } else if (flags.fill_at_graph > 0) {
    REPRISE_ASSIGN_OR_RETURN(
        *probe, MemoryFiller::Create(*driver, gpu.device, flags.fill_at_graph,
                                     kFilledFor, clock));
  }
  options.probe = probe->get();
  if (flags.faulty_sinh) {
    options.kernels_instead.push_back(
        {"faulty", std::as_bytes(std::span(kFaultyKernel))});
  }
  return cuda::MakeCudaDevice(*driver, gpu, options, clock);
}

int Main(std::vector<const char*> args) {
  Flags flags;
  if (const std::string fault = TakeFlags(&args, &flags); !fault.empty()) {
    std::cerr << "reprised_instrumented: " << fault << "\n";
    return static_cast<int>(ExitCode::kBadCommandLine);
  }
  std::unique_ptr<cuda::GraphProbe> probe;
  return RunDaemon(args, [&](const DeviceWorker::DeviceFactory& /*inner*/) {
    return [&] { return Make(flags, &probe); };
  });
}

}  // namespace
}  // namespace reprise::gpu_test

int main(int argc, char** argv) {
  return reprise::gpu_test::Main({argv + 1, argv + argc});
}
