// Leveled log lines, as text or as JSON lines.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace reprise {

enum class LogLevel { kVerbose, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

// Where lines go and which ones. Set once at start-up, before other threads
// log; the defaults are text, info and above, standard error.
struct LogOptions {
  LogFormat format = LogFormat::kText;
  bool info = true;
  bool warning = true;
  bool error = true;
  int verbose_level = 0;  // lines of LogVerbose up to this level; 0 = none
};
void SetLogOptions(const LogOptions& options);

// One line: a sentence, then key=value pairs ("model loaded model=a rows=8");
// in JSON each pair is a field of its own. A value with spaces is in quotes,
// and a byte that is not UTF-8 is shown as \xNN. Threads: any; a line is
// written whole.
void LogInfo(absl::string_view message);
void LogWarning(absl::string_view message);
void LogError(absl::string_view message);
void LogVerbose(int level, absl::string_view message);

// `text` as the value of a pair, whatever characters it has: in quotes, and
// what would end them escaped.
std::string LogValue(absl::string_view text);

// The same for a name: without quotes where it reads the same without them.
std::string LogName(absl::string_view name);

// The line as it would be written, without the line feed; `seconds` since the
// epoch. For tests, and for those who write lines elsewhere.
std::string FormatLogLine(LogFormat format, LogLevel level,
                          absl::string_view message, double seconds);

}  // namespace reprise
