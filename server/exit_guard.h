// Bounds the shutdown: the process exits in time even if a step hangs.
#pragma once

#include <signal.h>

#include <functional>

#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "server/exit_code.h"

namespace reprise {

// Blocks the signals that a daemon waits for, in this thread and in those that
// it starts: SIGTERM and SIGINT ask for an end; SIGUSR1 is RunGuarded's, and
// SIGUSR2 RequestStop's. SIGPIPE is ignored.
sigset_t BlockSignals();

// Waits until one of `signals` asks for an end, or RequestStop has been called.
void AwaitStopSignal(const sigset_t& signals);

// Any thread: AwaitStopSignal returns. Afterwards it changes nothing.
void RequestStop();

// Ends the process at once: nothing is destroyed.
[[noreturn]] void ExitNow(ExitCode code);

// A stop signal that comes sooner after the first is the same one, sent twice:
// `timeout` signals its child, and then the group that the child is in.
constexpr absl::Duration kSameSignal = absl::Milliseconds(100);

// Called when a first signal has been heard. Runs `last_steps` on a thread of
// its own and returns the code that it gives. From kSameSignal after the call
// on, SIGTERM and SIGINT end the process at once, with kSecondSignal, also when
// this has returned; before, they are ignored. Steps that take longer than
// `limit` end it with `late`: what hangs then is not waited for, nor is
// anything destroyed.
//
// Threads: from the main thread, once; `signals` as BlockSignals gave them.
ExitCode RunGuarded(const sigset_t& signals, Clock& clock, absl::Duration limit,
                    ExitCode late, const std::function<ExitCode()>& last_steps);

}  // namespace reprise
