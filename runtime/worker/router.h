// Which worker a request goes to: a pure function of what the workers show.
#pragma once

#include <span>

#include "runtime/worker/device_worker.h"

namespace reprise {

// Index of the worker with the least predicted time outstanding; among equals
// the one after `last` (the previous choice, -1 for none), so that idle devices
// take turns. Stuck workers are chosen only when all are. -1 if there is none.
int ChooseWorker(std::span<const WorkerLoad> loads, int last);

}  // namespace reprise
