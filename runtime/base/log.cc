#include "runtime/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/utf8.h"

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
  for (const char c : ToUtf8(text)) {
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

// Whether JSON would read `text` as a number.
bool IsNumber(absl::string_view text) {
  absl::ConsumePrefix(&text, "-");
  const auto digits = [&text] {
    const size_t end =
        std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(end);
    return end;
  };
  const bool zero = absl::StartsWith(text, "0");
  const size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (absl::ConsumePrefix(&text, ".") && digits() == 0) return false;
  if (absl::ConsumePrefix(&text, "e")) {
    if (!absl::ConsumePrefix(&text, "+")) absl::ConsumePrefix(&text, "-");
    if (digits() == 0) return false;
  }
  return text.empty();
}

// A value up to its closing quote, without quotes; backslashes hide the next
// character, and are taken away in double quotes. False without an end.
bool TakeQuoted(absl::string_view& text, std::string& value) {
  const char quote = text.front();
  text.remove_prefix(1);
  while (!text.empty() && text.front() != quote) {
    if (text.front() == '\\' && text.size() > 1) {
      if (quote == '\'') value.push_back('\\');
      text.remove_prefix(1);
    }
    value.push_back(text.front());
    text.remove_prefix(1);
  }
  return absl::ConsumePrefix(&text, absl::string_view(&quote, 1));
}

// Takes " key=value" off the front and adds it as a field. False if there is
// something else.
bool TakeField(absl::string_view& text, std::string& fields) {
  if (!absl::ConsumePrefix(&text, " ")) return false;
  const size_t end = text.find('=');
  const absl::string_view key = text.substr(0, end);
  if (end == absl::string_view::npos || key.empty() ||
      !absl::ascii_islower(static_cast<unsigned char>(key[0])) ||
      key == "time" || key == "level" || key == "message" ||
      !std::all_of(key.begin(), key.end(), [](unsigned char c) {
        return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
      })) {
    return false;
  }
  text.remove_prefix(end + 1);
  absl::StrAppend(&fields, ",\"", key, "\":");
  std::string value;
  if (absl::StartsWith(text, "\"") || absl::StartsWith(text, "'")) {
    if (!TakeQuoted(text, value)) return false;
    AppendJsonString(fields, value);
    return text.empty() || text.front() == ' ';
  }
  const absl::string_view bare = text.substr(0, text.find(' '));
  text.remove_prefix(bare.size());
  if (IsNumber(bare)) {
    absl::StrAppend(&fields, bare);
  } else {
    AppendJsonString(fields, bare);
  }
  return true;
}

// The sentence, and as fields the pairs with which the message ends.
void AppendJsonMessage(std::string& out, absl::string_view message) {
  std::string fields;
  size_t end = 0;
  for (; end < message.size(); ++end) {
    if (message[end] != ' ') continue;
    absl::string_view rest = message.substr(end);
    fields.clear();
    bool all = true;
    while (all && !rest.empty()) all = TakeField(rest, fields);
    if (all) break;
  }
  if (end >= message.size()) fields.clear();
  AppendJsonString(out, message.substr(0, end));
  out += fields;
}

void Write(LogLevel level, absl::string_view message) {
  const Clock& clock = RealClock::Get();
  const double seconds =
      absl::ToDoubleSeconds(clock.ToWall(clock.Now()) - absl::UnixEpoch());
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

std::string LogValue(absl::string_view text) {
  std::string value = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') value.push_back('\\');
    value.push_back(c);
  }
  value.push_back('"');
  return value;
}

std::string LogName(absl::string_view name) {
  const bool plain = std::none_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return absl::ascii_isspace(byte) || absl::ascii_iscntrl(byte) || c == '"' ||
           c == '\'' || c == '\\' || c == '=';
  });
  return plain && !name.empty() && !IsNumber(name) ? std::string(name)
                                                   : LogValue(name);
}

std::string FormatLogLine(LogFormat format, LogLevel level,
                          absl::string_view message, double seconds) {
  const absl::Time time = absl::UnixEpoch() + absl::Seconds(seconds);
  const std::string stamp =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
  if (format == LogFormat::kJson) {
    std::string out = absl::StrCat("{\"time\":\"", stamp, "\",\"level\":\"",
                                   LevelName(level), "\",\"message\":");
    AppendJsonMessage(out, message);
    out.push_back('}');
    return out;
  }
  std::string out = absl::StrCat(stamp, " ", LevelName(level), " ");
  // Callers choose parts of messages: none of them begins a line of its own or
  // tells a terminal what to do.
  for (const char c : ToUtf8(message)) {
    out.push_back(absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? ' ' : c);
  }
  return out;
}

void SetLogOptions(const LogOptions& options) {
  Options().format = options.format;
  Options().info = options.info;
  Options().warning = options.warning;
  Options().error = options.error;
  Options().verbose_level = options.verbose_level;
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
