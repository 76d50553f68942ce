// How much memory this process may still take.
#pragma once

#include <string>

#include "runtime/device/device.h"

namespace reprise::cpu {

// The machine's memory, or the control group's limit if that is smaller.
DeviceMemory HostMemory();

// The same from the texts of /proc/meminfo and of the control group's
// memory.max and memory.current ("" where there is no group).
DeviceMemory ParseHostMemory(const std::string& meminfo, const std::string& max,
                             const std::string& current);

}  // namespace reprise::cpu
