// How the daemon ends.
#pragma once

namespace reprise {

enum class ExitCode {
  kOk = 0,
  kCannotStart = 1,     // a port, a device, or a model with --exit-on-error
  kBadCommandLine = 2,  // flags, or the file of --config
  kExitTimeout = 3,     // --exit-timeout-secs: something was not answered, or
                        // did not end
  kDeviceLost = 4,      // a GPU's error that only a new process mends, or a
                        // run on it that did not end
  kSecondSignal = 143,  // a second SIGTERM or SIGINT (exit_guard.h)
};

}  // namespace reprise
