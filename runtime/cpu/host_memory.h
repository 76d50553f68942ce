// How much memory this process may still take.
#pragma once

#include <string>

#include "runtime/device/device.h"

namespace reprise::cpu {

// The machine's memory, or what the control group at the mount's root still has
// to give if that is less: a container sees its own group there (cgroup v1 or
// v2). Groups elsewhere, such as a systemd service's, are not read.
DeviceMemory HostMemory();

// Texts of a control group's files; "" where there are none.
struct MemoryGroup {
  std::string limit;    // memory.max, or memory.limit_in_bytes
  std::string current;  // memory.current, or memory.usage_in_bytes
  std::string stat;     // memory.stat
};

// The same from the text of /proc/meminfo and the files of a control group.
// Pages of files that nobody has used for a while count as free, as they do in
// MemAvailable: the system takes them back before it refuses.
DeviceMemory ParseHostMemory(const std::string& meminfo,
                             const MemoryGroup& group);

}  // namespace reprise::cpu
