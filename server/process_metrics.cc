#include "server/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "prometheus/client_metric.h"
#include "prometheus/metric_type.h"

namespace reprise {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::string ReadAll(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

// Number after `key` at the start of a line of /proc/stat.
std::optional<double> BootTime() {
  const std::string text = ReadAll("/proc/stat");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    double value = 0;
    if (words.size() == 2 && words[0] == "btime" &&
        absl::SimpleAtod(words[1], &value)) {
      return value;
    }
  }
  return std::nullopt;
}

// Fields of /proc/self/stat after the command, which may hold spaces.
std::vector<double> StatFields() {
  const std::string text = ReadAll("/proc/self/stat");
  const size_t end = text.rfind(')');
  std::vector<double> fields;
  if (end == std::string::npos) return fields;
  for (const absl::string_view word :
       absl::StrSplit(absl::string_view(text).substr(end + 1), ' ',
                      absl::SkipWhitespace())) {
    double value = 0;
    if (!absl::SimpleAtod(word, &value)) value = 0;
    fields.push_back(value);
  }
  return fields;
}

MetricFamily Make(const char* name, const char* help, MetricType type,
                  double value) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  prometheus::ClientMetric metric;
  if (type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family.metric.push_back(std::move(metric));
  return family;
}

// Indexes in StatFields: man 5 proc, less the two fields before it.
constexpr size_t kUserTime = 11;
constexpr size_t kSystemTime = 12;
constexpr size_t kThreads = 17;
constexpr size_t kStartTime = 19;
constexpr size_t kVirtualBytes = 20;
constexpr size_t kResidentPages = 21;

void AddStat(std::vector<MetricFamily>& out) {
  const std::vector<double> stat = StatFields();
  if (stat.size() <= kResidentPages) return;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  out.push_back(
      Make("process_cpu_seconds_total", "User and system CPU time, in seconds",
           MetricType::Counter, (stat[kUserTime] + stat[kSystemTime]) / ticks));
  out.push_back(Make("process_resident_memory_bytes", "Resident memory",
                     MetricType::Gauge, stat[kResidentPages] * page));
  out.push_back(Make("process_virtual_memory_bytes", "Virtual memory",
                     MetricType::Gauge, stat[kVirtualBytes]));
  out.push_back(
      Make("process_threads", "Threads", MetricType::Gauge, stat[kThreads]));
  if (const std::optional<double> boot = BootTime()) {
    out.push_back(Make("process_start_time_seconds",
                       "Start of the process, in seconds since the epoch",
                       MetricType::Gauge, *boot + stat[kStartTime] / ticks));
  }
}

}  // namespace

std::vector<MetricFamily> ProcessMetrics::Collect() const {
  std::vector<MetricFamily> out;
  AddStat(out);
  std::error_code error;
  double open = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end;
       !error && it != end; it.increment(error)) {
    ++open;
  }
  if (!error) {
    out.push_back(Make("process_open_fds", "Open file descriptors",
                       MetricType::Gauge, open));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    out.push_back(Make("process_max_fds", "Limit of open file descriptors",
                       MetricType::Gauge, static_cast<double>(limit.rlim_cur)));
  }
  return out;
}

}  // namespace reprise
