#include "server/exit_guard.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/thread.h"

namespace reprise {
namespace {

[[noreturn]] void ExitNow(ExitCode code) { _exit(static_cast<int>(code)); }

// Nobody waits for them any more: they end the process by themselves.
void HearStopSignals() {
  struct sigaction action {};
  action.sa_handler = [](int /*signal*/) { ExitNow(ExitCode::kSecondSignal); };
  sigset_t stop;
  sigemptyset(&stop);
  for (const int signal : {SIGTERM, SIGINT}) {
    sigaction(signal, &action, nullptr);
    sigaddset(&stop, signal);
  }
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
}

}  // namespace

sigset_t BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // inherited by every thread
  signal(SIGPIPE, SIG_IGN);
  return set;
}

void AwaitStopSignal(const sigset_t& signals) {
  int signal = SIGUSR1;
  while (signal == SIGUSR1) sigwait(&signals, &signal);
}

ExitCode RunGuarded(const sigset_t& signals, absl::Duration limit,
                    ExitCode late,
                    const std::function<ExitCode()>& last_steps) {
  std::atomic<bool> done{false};
  ExitCode code = late;
  Thread thread("last-steps", [&] {
    code = last_steps();
    done = true;
    kill(getpid(), SIGUSR1);
  });
  const absl::Time end = RealClock::Get().Now() + limit;
  while (!done) {
    const timespec left = absl::ToTimespec(
        std::max(absl::ZeroDuration(), end - RealClock::Get().Now()));
    const int signal = sigtimedwait(&signals, nullptr, &left);
    if (done || signal == SIGUSR1 || (signal < 0 && errno == EINTR)) continue;
    if (signal < 0) {
      LogError(absl::StrCat("exit now: something does not end code=",
                            static_cast<int>(late)));
      ExitNow(late);
    }
    LogWarning("second signal: exit now");
    ExitNow(ExitCode::kSecondSignal);
  }
  thread.Join();
  HearStopSignals();
  return code;
}

}  // namespace reprise
