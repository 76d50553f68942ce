// Lowers one node for the GPU, and runs it in the emulator.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/cuda_lowering.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/host_tensor.h"
#include "tests/testing/one_node.h"

namespace reprise::cuda {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

using ::reprise::testing::F32;
using ::reprise::testing::I32;
using ::reprise::testing::I64;
using ::reprise::testing::Noise;
using ::reprise::testing::TensorOf;

// Numbers of any dtype: floats between -4 and 4, integers between -9 and 9, or
// 0 and 9 if unsigned; both kinds of BOOL.
HostTensor Numbers(DType dtype, Dims dims, unsigned seed);

class OpTester {
 public:
  explicit OpTester(const std::string& op, int version = 17);

  OpTester& In(HostTensor tensor);
  OpTester& Absent();
  OpTester& Set(const std::string& name, graph::AttributeValue value);
  OpTester& Outputs(int count);
  // These inputs are weights; the others the slot's.
  OpTester& Weights(std::set<size_t> weights);
  OpTester& With(const LoweringOptions& options);

  // The program as text, or an error as text.
  std::string Text() const;
  absl::Status Status() const;
  // Expects the answer of the CPU's plain loop: numbers within `tolerance`,
  // taken of 1 and of the answer, all else exactly.
  void ExpectSame(double tolerance = 1e-5) const;
  // The same, if the program holds `text`.
  void ExpectSameBy(const std::string& text, double tolerance = 1e-5) const;

 private:
  struct Lowered;

  absl::StatusOr<std::unique_ptr<Lowered>> Lower() const;

  testing::OneNode node_;
  std::set<size_t> weights_;
  LoweringOptions options_;
};

}  // namespace reprise::cuda
