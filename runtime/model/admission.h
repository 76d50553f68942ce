// Does it fit? What a model asks of messages and of memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/device.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/signature.h"

namespace reprise {

// A model of which not even one row fits into a message is refused with
// FAILED_PRECONDITION; one whose largest request or reply does not fit gets a
// line in `warnings` that names the flag. Free dims count as 1, and so does the
// text of a string: what is refused can never be served.
absl::Status CheckMessageSize(const Signature& signature,
                              int64_t max_message_bytes,
                              std::vector<std::string>& warnings);

// What may be taken to import a model. On the CPU the device's memory is the
// host's: the file and its parsed form are held at once, then the parsed form
// and the constants made of it, so that a file may have half of what is free
// and its constants what the file leaves. Elsewhere the device's memory bounds
// the constants alone. A device that reports no memory bounds nothing.
int64_t MaxFileBytes(const DeviceMemory& memory, bool gpu);
int64_t MaxConstantBytes(const DeviceMemory& memory, bool gpu,
                         int64_t file_bytes);

// Bytes of the graph's weights and constants.
int64_t ConstantBytes(const graph::Graph& graph);

// RESOURCE_EXHAUSTED, with both figures, if the device has not that much free.
// A device that reports no memory at all is not held to it.
absl::Status CheckMemory(int64_t needed, const DeviceMemory& memory);

}  // namespace reprise
