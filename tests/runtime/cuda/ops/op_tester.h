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

namespace reprise::cuda {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

// A tensor of the DType that T stands for.
template <typename T>
HostTensor TensorOf(DType dtype, Dims dims, const std::vector<T>& values) {
  HostTensor tensor = HostTensor::Create(dtype, std::move(dims)).value();
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.template values<T>()[i] = values[i];
  }
  return tensor;
}
HostTensor F32(Dims dims, const std::vector<float>& values);
HostTensor I64(Dims dims, const std::vector<int64_t>& values);
HostTensor I32(Dims dims, const std::vector<int32_t>& values);
// Values between -1 and 1 that look random.
HostTensor Noise(Dims dims, unsigned seed);
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

  absl::StatusOr<std::vector<HostTensor>> Evaluate() const;
  absl::StatusOr<std::unique_ptr<Lowered>> Lower() const;

  graph::Node node_;
  std::vector<std::shared_ptr<const HostTensor>> inputs_;  // null: absent
  std::set<size_t> weights_;
  int outputs_ = 1;
  LoweringOptions options_;
};

}  // namespace reprise::cuda
