#include "server/exit_guard.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/thread.h"

namespace reprise {
namespace {

// After the last steps a stop signal ends the process at once, also one that is
// pending, unless those are to be forgotten.
void ExitOnStopSignals(bool forget_pending) {
  struct sigaction action {};
  action.sa_handler = [](int /*signal*/) { ExitNow(ExitCode::kSecondSignal); };
  sigset_t stop;
  sigemptyset(&stop);
  for (const int signal : {SIGTERM, SIGINT}) {
    sigaction(signal, &action, nullptr);
    sigaddset(&stop, signal);
  }
  constexpr timespec kNoWait{};
  while (forget_pending && sigtimedwait(&stop, nullptr, &kNoWait) > 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
}

}  // namespace

sigset_t BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) {
    sigaddset(&set, signal);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // inherited by every thread
  signal(SIGPIPE, SIG_IGN);
  return set;
}

void AwaitStopSignal(const sigset_t& signals) {
  int signal = SIGUSR1;
  while (signal == SIGUSR1) sigwait(&signals, &signal);
}

void RequestStop() { kill(getpid(), SIGUSR2); }

void ExitNow(ExitCode code) { _exit(static_cast<int>(code)); }

ExitCode RunGuarded(const sigset_t& signals, Clock& clock, absl::Duration limit,
                    ExitCode late,
                    const std::function<ExitCode()>& last_steps) {
  const absl::Time begin = clock.Now();
  const auto is_same = [&] { return clock.Now() - begin < kSameSignal; };
  std::atomic<bool> done{false};
  ExitCode code = late;
  Thread thread("last-steps", [&] {
    code = last_steps();
    done = true;
    kill(getpid(), SIGUSR1);
  });
  while (!done) {
    const timespec left = absl::ToTimespec(
        std::max(absl::ZeroDuration(), begin + limit - clock.Now()));
    const int signal = sigtimedwait(&signals, nullptr, &left);
    const bool is_ours = signal == SIGUSR1 || signal == SIGUSR2;
    if (done || is_ours || (signal < 0 && errno == EINTR)) continue;
    if (signal < 0) {
      LogError(absl::StrCat("exit now: something does not end code=",
                            static_cast<int>(late)));
      ExitNow(late);
    }
    if (is_same()) continue;
    LogWarning("second signal: exit now");
    ExitNow(ExitCode::kSecondSignal);
  }
  thread.Join();
  ExitOnStopSignals(/*forget_pending=*/is_same());
  return code;
}

}  // namespace reprise
