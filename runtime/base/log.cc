#include "runtime/base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"

namespace reprise {
namespace {

// Options are words of their own, so that a line being written while they
// change is still a whole line.
struct AtomicOptions {
  std::atomic<LogFormat> format{LogFormat::kText};
  std::atomic<bool> info{true};
  std::atomic<bool> warning{true};
  std::atomic<bool> error{true};
  std::atomic<int> verbose_level{0};
};

AtomicOptions& Options() {
  static AtomicOptions* const options = new AtomicOptions;
  return *options;
}

const char* LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kVerbose:
      return "verbose";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "unknown";
}

void AppendJsonString(std::string& out, absl::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&out, "\\", absl::string_view(&c, 1));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void Write(LogLevel level, absl::string_view message) {
  const double seconds =
      absl::ToDoubleSeconds(RealClock::Get().Now() - absl::UnixEpoch());
  std::string line =
      FormatLogLine(Options().format.load(), level, message, seconds);
  line.push_back('\n');
  size_t done = 0;
  while (done < line.size()) {  // one write a line, unless a pipe is full
    const ssize_t n =
        ::write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}

}  // namespace

std::string FormatLogLine(LogFormat format, LogLevel level,
                          absl::string_view message, double seconds) {
  const absl::Time time = absl::UnixEpoch() + absl::Seconds(seconds);
  const std::string stamp =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
  if (format == LogFormat::kJson) {
    std::string out = absl::StrCat("{\"time\":\"", stamp, "\",\"level\":\"",
                                   LevelName(level), "\",\"message\":");
    AppendJsonString(out, message);
    out.push_back('}');
    return out;
  }
  std::string out = absl::StrCat(stamp, " ", LevelName(level), " ");
  for (const char c : message) out.push_back(c == '\n' ? ' ' : c);
  return out;
}

void SetLogOptions(const LogOptions& options) {
  Options().format = options.format;
  Options().info = options.info;
  Options().warning = options.warning;
  Options().error = options.error;
  Options().verbose_level = options.verbose_level;
}

LogOptions GetLogOptions() {
  return {.format = Options().format,
          .info = Options().info,
          .warning = Options().warning,
          .error = Options().error,
          .verbose_level = Options().verbose_level};
}

void LogInfo(absl::string_view message) {
  if (Options().info) Write(LogLevel::kInfo, message);
}

void LogWarning(absl::string_view message) {
  if (Options().warning) Write(LogLevel::kWarning, message);
}

void LogError(absl::string_view message) {
  if (Options().error) Write(LogLevel::kError, message);
}

void LogVerbose(int level, absl::string_view message) {
  if (level <= Options().verbose_level) Write(LogLevel::kVerbose, message);
}

}  // namespace reprise
