// The daemon with a device that takes its time: reprised, and the flag
// --test-delay=MODEL=DURATION, which may be repeated.
#include <cstddef>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "server/daemon.h"
#include "tests/testing/delayed_device.h"

namespace reprise {
namespace {

// Takes the test's own flags out of `args`. False if one cannot be read.
bool TakeDelays(std::vector<const char*>* args, testing::Delays* delays) {
  std::vector<const char*> kept;
  for (const char* const arg : *args) {
    absl::string_view text = arg;
    if (!absl::ConsumePrefix(&text, "--test-delay=")) {
      kept.push_back(arg);
      continue;
    }
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    absl::Duration delay;
    if (!absl::ParseDuration(parts.second, &delay)) return false;
    (*delays)[parts.first] = delay;
  }
  args->swap(kept);
  return true;
}

int Main(std::vector<const char*> args) {
  testing::Delays delays;
  if (!TakeDelays(&args, &delays)) {
    std::cerr << "expected --test-delay=MODEL=DURATION\n";
    return 2;
  }
  return RunDaemon(args, [delays](DeviceWorker::DeviceFactory inner) {
    return testing::DelayFactory(std::move(inner), delays, RealClock::Get());
  });
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  return reprise::Main({argv + 1, argv + argc});
}
