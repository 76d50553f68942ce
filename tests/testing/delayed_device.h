// A device whose runs take longer than they need.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/device/device.h"

namespace reprise::testing {

// By model name: what each of its runs takes besides the device's own time.
// Models that are not named are left as they are.
using Delays = std::map<std::string, absl::Duration>;

// `inner`, with runs of the named models that end later: one after the other
// for each executable, and their rungs' times say so. What is loaded, computed
// and refused is `inner`'s. `clock` must outlive the device.
std::unique_ptr<Device> DelayDevice(std::unique_ptr<Device> inner,
                                    Delays delays, Clock& clock);

// What DeviceWorker::Create takes, around another of its kind.
using DeviceFactory = std::function<absl::StatusOr<std::unique_ptr<Device>>()>;
DeviceFactory DelayFactory(DeviceFactory inner, Delays delays, Clock& clock);

}  // namespace reprise::testing
