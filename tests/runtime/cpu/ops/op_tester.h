// Runs one node: by its plain loop, or lowered as a device does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/graph.h"
#include "runtime/tensor/host_tensor.h"
#include "tests/testing/one_node.h"

namespace reprise::cpu {

using ::reprise::testing::F32;
using ::reprise::testing::I32;
using ::reprise::testing::I64;
using ::reprise::testing::Noise;
using ::reprise::testing::TensorOf;

HostTensor Bool(Dims dims, const std::vector<uint8_t>& values);

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
  absl::StatusOr<std::vector<HostTensor>> Evaluate() const {
    return node_.Evaluate();
  }
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
  void ExpectSame(const Lowered& lowered) const;

  testing::OneNode node_;
};

}  // namespace reprise::cpu
