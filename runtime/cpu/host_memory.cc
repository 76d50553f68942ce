#include "runtime/cpu/host_memory.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace reprise::cpu {
namespace {

std::string Contents(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "MemTotal:       16 kB" -> 16384; 0 if the line is not there.
int64_t MeminfoBytes(const std::string& meminfo, absl::string_view key) {
  for (const absl::string_view line : absl::StrSplit(meminfo, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kilobytes = 0;
    if (words.size() >= 2 && words[0] == key &&
        absl::SimpleAtoi(words[1], &kilobytes)) {
      return kilobytes * 1024;
    }
  }
  return 0;
}

}  // namespace

DeviceMemory ParseHostMemory(const std::string& meminfo, const std::string& max,
                             const std::string& current) {
  DeviceMemory memory;
  memory.total = MeminfoBytes(meminfo, "MemTotal:");
  memory.free = MeminfoBytes(meminfo, "MemAvailable:");
  int64_t limit = 0;
  int64_t used = 0;
  if (absl::SimpleAtoi(max, &limit) && absl::SimpleAtoi(current, &used)) {
    memory.total = std::min(memory.total, limit);
    memory.free = std::min(memory.free, std::max<int64_t>(0, limit - used));
  }
  return memory;
}

DeviceMemory HostMemory() {
  return ParseHostMemory(Contents("/proc/meminfo"),
                         Contents("/sys/fs/cgroup/memory.max"),
                         Contents("/sys/fs/cgroup/memory.current"));
}

}  // namespace reprise::cpu
