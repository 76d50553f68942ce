// The end of the process: heard and bounded, whatever hangs.
#pragma once

#include <signal.h>

#include <functional>

#include "absl/time/time.h"
#include "server/exit_code.h"

namespace reprise {

// Blocks the signals that a daemon waits for, in this thread and in those that
// it starts: SIGTERM and SIGINT ask for an end; SIGUSR1 is RunGuarded's.
// SIGPIPE is ignored.
sigset_t BlockSignals();

// Waits until one of `signals` asks for an end.
void AwaitStopSignal(const sigset_t& signals);

// Runs `last_steps` on a thread of its own and returns the code that it gives.
// Meanwhile, and from then on, SIGTERM and SIGINT end the process at once, with
// kSecondSignal. Steps that take longer than `limit` end it with `late`: what
// hangs then is not waited for, nor is anything destroyed.
//
// Threads: from the main thread, once; `signals` as BlockSignals gave them.
ExitCode RunGuarded(const sigset_t& signals, absl::Duration limit,
                    ExitCode late, const std::function<ExitCode()>& last_steps);

}  // namespace reprise
