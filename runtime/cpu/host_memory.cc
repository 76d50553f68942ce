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

// The number behind `key` at the start of a line; 0 if there is none.
int64_t NumberAfter(const std::string& text, absl::string_view key) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t number = 0;
    if (words.size() >= 2 && words[0] == key &&
        absl::SimpleAtoi(words[1], &number)) {
      return number;
    }
  }
  return 0;
}

// "MemTotal:       16 kB" -> 16384
int64_t MeminfoBytes(const std::string& meminfo, absl::string_view key) {
  return NumberAfter(meminfo, key) * 1024;
}

// Version 1 counts the groups below a group under keys of their own.
int64_t InactiveFileBytes(const std::string& stat) {
  return std::max(NumberAfter(stat, "inactive_file"),
                  NumberAfter(stat, "total_inactive_file"));
}

MemoryGroup ThisGroup() {
  MemoryGroup group = {Contents("/sys/fs/cgroup/memory.max"),
                       Contents("/sys/fs/cgroup/memory.current"),
                       Contents("/sys/fs/cgroup/memory.stat")};
  if (!group.limit.empty()) return group;
  return {Contents("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
          Contents("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
          Contents("/sys/fs/cgroup/memory/memory.stat")};
}

}  // namespace

DeviceMemory ParseHostMemory(const std::string& meminfo,
                             const MemoryGroup& group) {
  DeviceMemory memory;
  memory.total = MeminfoBytes(meminfo, "MemTotal:");
  memory.free = MeminfoBytes(meminfo, "MemAvailable:");
  int64_t limit = 0;
  int64_t used = 0;
  if (absl::SimpleAtoi(group.limit, &limit) &&
      absl::SimpleAtoi(group.current, &used)) {
    used = std::max<int64_t>(0, used - InactiveFileBytes(group.stat));
    memory.total = std::min(memory.total, limit);
    memory.free = std::min(memory.free, std::max<int64_t>(0, limit - used));
  }
  return memory;
}

DeviceMemory HostMemory() {
  return ParseHostMemory(Contents("/proc/meminfo"), ThisGroup());
}

}  // namespace reprise::cpu
