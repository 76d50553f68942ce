#include "server/daemon.h"

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "grpc/support/log.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/thread.h"
#include "server/exit_code.h"
#include "server/flags.h"
#include "server/health_probe.h"
#include "server/tools/check.h"

namespace reprise {
namespace {

// Large messages are reused by the heap instead of being mapped and faulted in
// anew: 63 page faults a call of 600 KB become none.
void TuneHeap() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
}

void QuietGrpc() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    LogVerbose(2, absl::StrCat("grpc: ", args->message));
  });
}

// SIGTERM and SIGINT ask for an end; SIGUSR1 says that something has ended.
sigset_t BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // inherited by every thread
  signal(SIGPIPE, SIG_IGN);
  return set;
}

int Fail(ExitCode code, absl::string_view message) {
  for (const absl::string_view line : absl::StrSplit(message, '\n')) {
    std::cerr << "reprised: " << line << "\n";
  }
  return static_cast<int>(code);
}

// What the loading of models at start came to.
class StartResult {
 public:
  explicit StartResult(bool exit_on_error) : exit_on_error_(exit_on_error) {}

  void Report(const absl::Status& status) {
    if (status.ok()) {
      LogInfo("models loaded");
      return;
    }
    for (const absl::string_view line :
         absl::StrSplit(status.message(), '\n')) {
      LogError(absl::StrCat("model not loaded: ", line));
    }
    if (!exit_on_error_) return;
    failed_ = true;
    kill(getpid(), SIGTERM);
  }
  bool failed() const { return failed_; }

 private:
  const bool exit_on_error_;
  std::atomic<bool> failed_{false};
};

// Drains on a thread of its own, so that a second signal is heard.
int DrainOrDie(Server& server, const sigset_t& signals) {
  std::atomic<bool> drained{false};
  bool all_answered = false;
  Thread drain("drain", [&] {
    all_answered = server.Drain();
    drained = true;
    kill(getpid(), SIGUSR1);
  });
  int signal = 0;
  while (!drained) {
    sigwait(&signals, &signal);
    if (signal == SIGUSR1) continue;
    LogWarning("second signal: exit now");
    _exit(static_cast<int>(ExitCode::kSecondSignal));
  }
  drain.Join();
  LogInfo(all_answered ? "everything answered"
                       : "exit timeout: some requests "
                         "were answered UNAVAILABLE");
  return static_cast<int>(all_answered ? ExitCode::kOk
                                       : ExitCode::kExitTimeout);
}

int Serve(const ServerOptions& options, DeviceWrapper wrap) {
  const sigset_t signals = BlockSignals();
  SetLogOptions(options.log);
  for (const auto& [flag, value] : Effective(options)) {
    LogInfo(absl::StrCat("option ", flag, "=", value));
  }
  absl::StatusOr<std::unique_ptr<Server>> server =
      Server::Create(options, RealClock::Get(), std::move(wrap));
  if (!server.ok()) {
    return Fail(ExitCode::kCannotStart, server.status().message());
  }
  StartResult start(options.exit_on_error);
  (*server)->Start([&start](const absl::Status& s) { start.Report(s); });
  int signal = SIGUSR1;
  while (signal == SIGUSR1) sigwait(&signals, &signal);
  if (start.failed()) {
    server->reset();
    return static_cast<int>(ExitCode::kCannotStart);
  }
  const int code = DrainOrDie(**server, signals);
  server->reset();
  return code;
}

}  // namespace

int RunDaemon(std::span<const char* const> args, DeviceWrapper wrap) {
  TuneHeap();
  QuietGrpc();
  if (!args.empty() && absl::string_view(args[0]) == "check") {
    return RunCheck(
        args.subspan(1),
        [] { return MakeDevice(ServerOptions(), RealClock::Get()); },
        std::cout);
  }
  if (!args.empty() && absl::string_view(args[0]) == "health") {
    return ProbeHealth(args.subspan(1), std::cout, std::cerr);
  }
  const absl::StatusOr<CommandLine> line = ParseCommandLine(args);
  if (!line.ok()) {
    return Fail(ExitCode::kBadCommandLine,
                absl::StrCat(std::string(line.status().message()),
                             "\n--help explains all flags"));
  }
  if (line->command == Command::kHelp) {
    std::cout << HelpText();
    return 0;
  }
  if (line->command == Command::kVersion) {
    std::cout << "reprised " << ProgramVersion() << " " << ProgramCommit()
              << "\n";
    return 0;
  }
  return Serve(line->options, std::move(wrap));
}

}  // namespace reprise
