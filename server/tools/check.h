// `reprised check`: would this repository be served?
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/worker/model_manager.h"
#include "server/options.h"

namespace reprise {

// The device that a server with these options would run models on.
using DeviceMaker = std::function<absl::StatusOr<std::unique_ptr<Device>>(
    const ServerOptions&)>;

// Validates every model of the repositories (or the one of --model-path) as a
// server would load it, on a device of its own: configuration, model, signature
// and every rung of every configured variant, the canary included. Warm-up
// requests are made, not run. Writes a line for each version, "ok" with its
// signature and ladder or "failed" with the reason, its warnings below it, and
// a last line that counts. Returns whether all of them are ok, and there is
// one.
bool CheckModels(const ModelManagerOptions& options, Device& device,
                 std::ostream& out);

// The command: `args` are folders and flags of the daemon. Returns the exit
// code: 0 if everything is ok, 1 if something is not or there is no model, 2
// for a command line that makes no sense.
int RunCheck(std::span<const char* const> args, const DeviceMaker& make_device,
             std::ostream& out);

}  // namespace reprise
