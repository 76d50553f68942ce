// A program with its addresses: what is run once to warm up, and captured.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/matmul_plan.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/program.h"

namespace reprise::cuda {

// Where the buffers of a plan lie.
struct Addresses {
  CUdeviceptr arena = 0;
  std::span<const CUdeviceptr> constants;  // by the entries of CudaWeights
  std::span<const CUdeviceptr> inputs;     // of a bank
  std::span<const CUdeviceptr> outputs;
};

// Everything that can fail but the launch itself has failed when it is made:
// kernels are loaded, arguments packed.
//
// Lifecycle: `modules` and `products` outlive it; it may go when its actions
// are captured. Threads: one at a time.
class BoundProgram {
 public:
  // `products` makes the matrix products; null: there are none. NOT_FOUND names
  // a kernel that there is not; INTERNAL a place that the plan does not have;
  // else what MatMulPlan::Create says.
  static absl::StatusOr<BoundProgram> Create(const CurrentContext& current,
                                             const Program& program,
                                             const Addresses& addresses,
                                             Modules& modules,
                                             const CublasLtHandle* products);

  BoundProgram(BoundProgram&&) = default;
  BoundProgram& operator=(BoundProgram&&) = default;

  // Issues all actions to `stream` in order, and waits for nothing.
  absl::Status Issue(const Driver& driver, CUstream stream);

  // The matrix products, by their places among the actions, whose algorithms
  // are not in `seen`, which gets them: a library loads the code of an
  // algorithm when that first runs.
  std::vector<size_t> NewProducts(std::set<std::string>& seen) const;
  // Issues that action alone; what it computes is of no use.
  absl::Status IssueOnly(size_t action, const Driver& driver, CUstream stream);

  // Nodes that a capture of it must have at least.
  size_t actions() const { return actions_.size(); }

 private:
  struct Launch {
    std::string entry;  // for messages
    CUfunction function = nullptr;
    Dim3 grid;
    Dim3 block;
    unsigned shared_bytes = 0;
    std::vector<std::byte> values;  // of all arguments, one after the other
    std::vector<size_t> offsets;    // of each in `values`
  };
  struct Move {
    CUdeviceptr from = 0;
    CUdeviceptr to = 0;
    size_t bytes = 0;
  };
  struct Product {
    MatMulPlan plan;
    MatMulAddresses addresses;
  };
  using Bound = std::variant<Launch, Move, Product>;
  class Binder;

  BoundProgram() = default;

  static absl::Status IssueOne(const Driver& driver, CUstream stream,
                               Launch& launch);
  static absl::Status IssueOne(const Driver& driver, CUstream stream,
                               Move& move);
  static absl::Status IssueOne(const Driver& driver, CUstream stream,
                               Product& product);

  std::vector<Bound> actions_;
};

}  // namespace reprise::cuda
