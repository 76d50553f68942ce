#include "server/daemon.h"

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "google/protobuf/stubs/logging.h"
#include "grpc/support/log.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "server/devices.h"
#include "server/exit_code.h"
#include "server/exit_guard.h"
#include "server/flags.h"
#include "server/health_probe.h"
#include "server/log_file.h"
#include "server/tools/check.h"

namespace reprise {
namespace {

// Beyond lame duck and exit timeout: GOAWAY, the last replies, and the end of
// threads and devices.
constexpr absl::Duration kLastSteps = absl::Seconds(10);

// From the loss of a device to the end.
constexpr absl::Duration kLostSteps = absl::Milliseconds(1500);

// Large messages are reused by the heap instead of being mapped and faulted in
// anew: 63 page faults a call of 600 KB become none. 32 MiB is the largest
// threshold that glibc takes; larger blocks are mapped. The heap grows by 16
// MiB at a time, so that a burst asks the kernel seldom. What is freed goes
// back to the kernel only beyond 1 GiB: up to so much of a burst stays
// resident.
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

// A request with a string that is not UTF-8 makes protobuf complain; the caller
// is told by gRPC.
void QuietProtobuf() {
  google::protobuf::SetLogHandler([](google::protobuf::LogLevel level,
                                     const char* /*file*/, int /*line*/,
                                     const std::string& message) {
    const std::string text = absl::StrCat("protobuf: ", message);
    if (level == google::protobuf::LOGLEVEL_FATAL) {
      LogError(text);
    } else {
      LogVerbose(1, text);
    }
  });
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
    // The manager has said what became of each model.
    if (status.ok() || !exit_on_error_) return;
    std::vector<absl::string_view> models;
    for (const absl::string_view line :
         absl::StrSplit(status.message(), '\n')) {
      models.push_back(line.substr(0, line.find(": ")));  // "model 'a'"
    }
    LogError(absl::StrCat("exit now, as --exit-on-error says: not loaded are ",
                          absl::StrJoin(models, ", ")));
    failed_ = true;
    kill(getpid(), SIGTERM);
  }
  bool failed() const { return failed_; }

 private:
  const bool exit_on_error_;
  std::atomic<bool> failed_{false};
};

absl::Status OpenLog(const ServerOptions& options) {
  SetLogOptions(options.log);
  return options.log_file.empty() ? absl::OkStatus()
                                  : SendStderrTo(options.log_file);
}

void LogStart(const CommandLine& line) {
  for (const auto& [flag, value] : Effective(line.options)) {
    LogInfo(absl::StrCat("option ", flag, "=", value));
  }
  for (const std::string& doubt : Doubts(line.options)) LogWarning(doubt);
  if (line.ignored.empty()) return;
  LogWarning(absl::StrCat("flags of Triton's that change nothing here: ",
                          absl::StrJoin(line.ignored, " ")));
}

// The log is ours by now, in its format.
ExitCode CannotStart(const absl::Status& status) {
  for (const absl::string_view line : absl::StrSplit(status.message(), '\n')) {
    LogError(absl::StrCat("cannot start: ", line));
  }
  return ExitCode::kCannotStart;
}

ExitCode ExitLost(Server& server) {
  server.EndLost();
  LogError(absl::StrCat("exit now: a device is lost code=",
                        static_cast<int>(ExitCode::kDeviceLost)));
  ExitNow(ExitCode::kDeviceLost);
}

// Ends the process in time, whatever hangs; what is on the device is left as it
// is.
void EndLost(Server& server, const sigset_t& signals, Clock& clock) {
  RunGuarded(signals, clock, kLostSteps, ExitCode::kDeviceLost,
             [&server] { return ExitLost(server); });
}

ExitCode Serve(const CommandLine& line, const DeviceWrapper& wrap) {
  const ServerOptions& options = line.options;
  const sigset_t signals = BlockSignals();
  Clock& clock = RealClock::Get();
  if (const absl::Status status = OpenLog(options); !status.ok()) {
    return CannotStart(status);
  }
  LogStart(line);
  absl::StatusOr<std::unique_ptr<Server>> server =
      Server::Create(options, clock, wrap);
  if (!server.ok()) return CannotStart(server.status());
  StartResult start(options.exit_on_error);
  (*server)->OnLost(RequestStop);
  (*server)->Start([&start](const absl::Status& s) { start.Report(s); });
  AwaitStopSignal(signals);
  if ((*server)->lost()) EndLost(**server, signals, clock);
  if (start.failed()) {
    return RunGuarded(signals, clock, kLastSteps, ExitCode::kCannotStart,
                      [&server] {
                        server->reset();
                        return ExitCode::kCannotStart;
                      });
  }
  return RunGuarded(signals, clock,
                    options.lame_duck + options.exit_timeout + kLastSteps,
                    ExitCode::kExitTimeout, [&server] {
                      const bool in_time = (*server)->Drain();
                      if ((*server)->lost()) ExitLost(**server);
                      if (in_time) LogInfo("everything answered");
                      server->reset();
                      return in_time ? ExitCode::kOk : ExitCode::kExitTimeout;
                    });
}

}  // namespace

int RunDaemon(std::span<const char* const> args, const DeviceWrapper& wrap) {
  TuneHeap();
  // Debian's Abseil looks for lock cycles at every lock, gRPC's own included.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  QuietGrpc();
  QuietProtobuf();
  if (!args.empty() && absl::string_view(args[0]) == "check") {
    return RunCheck(
        args.subspan(1),
        [](const ServerOptions& options) {
          return MakeDevice(options, RealClock::Get());
        },
        std::cout);
  }
  if (!args.empty() && absl::string_view(args[0]) == "health") {
    return ProbeHealth(args.subspan(1), RealClock::Get(), std::cout, std::cerr);
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
  return static_cast<int>(Serve(*line, wrap));
}

}  // namespace reprise
