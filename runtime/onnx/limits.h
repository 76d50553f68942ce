// Bounds of a model file, checked on the parsed message before any of it is
// turned into a graph.
#pragma once

#include "absl/status/status.h"
#include "onnx/onnx_pb.h"
#include "runtime/onnx/importer.h"

namespace reprise::onnx_import {

// Number of nodes, depth of subgraphs, lengths of names, and the bytes of all
// constants together, external data included: before a single one is read.
// RESOURCE_EXHAUSTED says which bound is passed, and by how much.
absl::Status CheckLimits(const onnx::ModelProto& model,
                         const ImportLimits& limits);

}  // namespace reprise::onnx_import
