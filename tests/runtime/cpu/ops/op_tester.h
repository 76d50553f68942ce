// Runs one node: by its plain loop, or lowered as a device does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/host_tensor.h"
#include "runtime/tensor/signature.h"

namespace reprise::cpu {

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
HostTensor Bool(Dims dims, const std::vector<uint8_t>& values);
// Values between -1 and 1 that look random.
HostTensor Noise(Dims dims, unsigned seed);

template <typename T>
std::vector<T> Values(const HostTensor& tensor) {
  return {tensor.values<T>().begin(), tensor.values<T>().end()};
}

class OpTester {
 public:
  OpTester(const std::string& op, int version);

  OpTester& In(HostTensor tensor);
  OpTester& Absent();
  OpTester& Set(const std::string& name, graph::AttributeValue value);
  OpTester& Outputs(int count);

  // By the plain loop, every input known.
  absl::StatusOr<std::vector<HostTensor>> Evaluate() const;
  // The first output, or an empty tensor and a failed expectation.
  HostTensor Result() const;

  struct Lowered {
    std::vector<HostTensor> outputs;
    std::string plan;  // as text
  };
  // As a graph whose inputs are those of `computed`; the others are weights.
  absl::StatusOr<Lowered> Lower(bool use_onednn,
                                const std::set<size_t>& computed) const;

  // Expects that lowering with oneDNN uses the step `step` and gives the plain
  // loop's answer, nearly.
  void ExpectOneDnn(const std::string& step,
                    const std::set<size_t>& computed = {0}) const;
  // Expects that it does not, and gives the same answer all the same.
  void ExpectPlain(const std::set<size_t>& computed = {0}) const;

 private:
  struct OneNode {
    graph::Graph graph;
    Signature signature;
    std::vector<std::byte*> slot_inputs;
  };
  OneNode MakeGraph(const std::vector<HostTensor>& expected,
                    const std::set<size_t>& computed) const;
  void ExpectSame(const Lowered& lowered) const;

  graph::Node node_;
  std::vector<std::shared_ptr<const HostTensor>> inputs_;  // null: absent
  int outputs_ = 1;
};

}  // namespace reprise::cpu
