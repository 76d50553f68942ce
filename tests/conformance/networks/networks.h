// The networks that tests/gpu/make_models.py writes, and the sample `simple`.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/signature.h"

namespace reprise::conformance {

struct Network {
  std::string name;  // its folder in the repository
  int max_rows = 1;
  bool small = false;  // enough for an emulator
};
std::span<const Network> Networks();
void PrintTo(const Network& network, std::ostream* os);

struct ReadNetwork {
  std::shared_ptr<const graph::Graph> graph;
  Signature signature;  // batched, of max_rows
};

// From the repository that REPRISE_TEST_NETWORKS names, or else the one in the
// build. UNAVAILABLE, with what makes it, where there is no such file.
absl::StatusOr<ReadNetwork> Read(const Network& network);

// All inputs with `rows` rows, the same each time: floats between -2 and 2,
// masks that hide some places, token numbers.
std::vector<HostTensor> MakeInputs(const Signature& signature, int rows);

// All outputs of a run of the first `rows` rows, the rest of the slot stale.
absl::StatusOr<std::vector<HostTensor>> RunRows(
    Executable& executable, const std::vector<HostTensor>& inputs, int rows);

// 1, 2, 4, ..., max_rows.
std::vector<int> LadderTo(int max_rows);

}  // namespace reprise::conformance
