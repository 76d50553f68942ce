#include "tests/runtime/cuda/ops/op_tester.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "runtime/cpu/evaluate.h"
#include "runtime/cuda/program.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/ops/node_view.h"
#include "runtime/ops/op_table.h"
#include "runtime/tensor/float16.h"
#include "runtime/tensor/signature.h"
#include "tests/runtime/cuda/emulation/emulator.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::testing::HasSubstr;

// Looks random, the same for each seed.
class Sequence {
 public:
  explicit Sequence(unsigned seed) : state_(seed * 2654435761u + 12345u) {}
  unsigned Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  // Between -1 and 1.
  float NextFloat() { return static_cast<float>(Next()) * 0x1p-23F - 1.0F; }

 private:
  unsigned state_;
};

double ElementAt(const HostTensor& tensor, size_t i) {
  switch (tensor.dtype()) {
    case DType::kFp32:
      return static_cast<double>(tensor.values<float>()[i]);
    case DType::kFp64:
      return tensor.values<double>()[i];
    case DType::kFp16:
      return static_cast<double>(static_cast<float>(tensor.values<Half>()[i]));
    default:
      return static_cast<double>(
          static_cast<float>(tensor.values<BFloat16>()[i]));
  }
}

bool Near(double have, double want, double tolerance) {
  if (std::isnan(want)) return std::isnan(have);
  if (std::isinf(want)) return have == want;
  return std::abs(have - want) <= tolerance * (1 + std::abs(want));
}

void ExpectNear(const HostTensor& have, const HostTensor& want,
                double tolerance, const std::string& what) {
  ASSERT_EQ(have.dtype(), want.dtype());
  ASSERT_EQ(have.dims(), want.dims());
  if (!IsFloat(want.dtype())) {
    EXPECT_TRUE(std::ranges::equal(have.bytes(), want.bytes())) << what;
    return;
  }
  for (size_t i = 0; i < static_cast<size_t>(want.elements()); ++i) {
    ASSERT_TRUE(Near(ElementAt(have, i), ElementAt(want, i), tolerance))
        << "element " << i << " is " << ElementAt(have, i) << ", not "
        << ElementAt(want, i) << "\n"
        << what;
  }
}

template <typename T>
void FillIntegers(HostTensor& tensor, Sequence& sequence) {
  for (T& value : tensor.values<T>()) {
    const int number = static_cast<int>(sequence.Next() % 19) - 9;
    value = static_cast<T>(std::is_signed_v<T> ? number : std::abs(number));
  }
}

template <typename T>
void FillFloats(HostTensor& tensor, Sequence& sequence) {
  for (T& value : tensor.values<T>()) {
    value = static_cast<T>(4 * sequence.NextFloat());
  }
}

}  // namespace

HostTensor F32(Dims dims, const std::vector<float>& values) {
  return TensorOf(DType::kFp32, std::move(dims), values);
}
HostTensor I64(Dims dims, const std::vector<int64_t>& values) {
  return TensorOf(DType::kInt64, std::move(dims), values);
}
HostTensor I32(Dims dims, const std::vector<int32_t>& values) {
  return TensorOf(DType::kInt32, std::move(dims), values);
}

HostTensor Noise(Dims dims, unsigned seed) {
  HostTensor tensor = HostTensor::Create(DType::kFp32, std::move(dims)).value();
  Sequence sequence(seed);
  for (float& value : tensor.values<float>()) value = sequence.NextFloat();
  return tensor;
}

HostTensor Numbers(DType dtype, Dims dims, unsigned seed) {
  HostTensor tensor = HostTensor::Create(dtype, std::move(dims)).value();
  Sequence sequence(seed);
  switch (dtype) {
    case DType::kFp32:
      FillFloats<float>(tensor, sequence);
      break;
    case DType::kFp64:
      FillFloats<double>(tensor, sequence);
      break;
    case DType::kFp16:
      FillFloats<Half>(tensor, sequence);
      break;
    case DType::kBf16:
      FillFloats<BFloat16>(tensor, sequence);
      break;
    case DType::kInt8:
      FillIntegers<int8_t>(tensor, sequence);
      break;
    case DType::kInt16:
      FillIntegers<int16_t>(tensor, sequence);
      break;
    case DType::kInt32:
      FillIntegers<int32_t>(tensor, sequence);
      break;
    case DType::kInt64:
      FillIntegers<int64_t>(tensor, sequence);
      break;
    case DType::kUint16:
      FillIntegers<uint16_t>(tensor, sequence);
      break;
    case DType::kUint32:
      FillIntegers<uint32_t>(tensor, sequence);
      break;
    case DType::kUint64:
      FillIntegers<uint64_t>(tensor, sequence);
      break;
    default:
      FillIntegers<uint8_t>(tensor, sequence);
      if (dtype == DType::kBool) {
        for (uint8_t& value : tensor.values<uint8_t>()) value %= 2;
      }
  }
  return tensor;
}

// What a lowered node refers to, and where its slot's tensors are.
struct OpTester::Lowered {
  graph::Graph graph;
  Signature signature;
  ops::BoundGraph bound;
  CudaWeights weights;
  Program program;
  std::vector<std::byte*> inputs;
};

OpTester::OpTester(const std::string& op, int version) {
  node_.op = op;
  node_.version = version;
}

OpTester& OpTester::In(HostTensor tensor) {
  inputs_.push_back(std::make_shared<const HostTensor>(std::move(tensor)));
  return *this;
}
OpTester& OpTester::Absent() {
  inputs_.push_back(nullptr);
  return *this;
}
OpTester& OpTester::Set(const std::string& name, graph::AttributeValue value) {
  node_.attributes.Set(name, std::move(value));
  return *this;
}
OpTester& OpTester::Outputs(int count) {
  outputs_ = count;
  return *this;
}
OpTester& OpTester::Weights(std::set<size_t> weights) {
  weights_ = std::move(weights);
  return *this;
}
OpTester& OpTester::With(const LoweringOptions& options) {
  options_ = options;
  return *this;
}

absl::StatusOr<std::vector<HostTensor>> OpTester::Evaluate() const {
  graph::Node node = node_;
  std::vector<ops::TensorType> types(inputs_.size());
  ops::NodeView view;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] != nullptr) {
      types[i] = {inputs_[i]->dtype(), inputs_[i]->dims()};
    }
    view.types.push_back(inputs_[i] != nullptr ? &types[i] : nullptr);
    view.constants.push_back(inputs_[i].get());
    node.inputs.push_back(inputs_[i] != nullptr ? static_cast<int>(i)
                                                : graph::kNoValue);
  }
  for (int k = 0; k < outputs_; ++k) {
    node.outputs.push_back(static_cast<int>(inputs_.size()) + k);
  }
  view.node = &node;
  REPRISE_ASSIGN_OR_RETURN(const ops::Op* op,
                           ops::FindOp("", node.op, node.version));
  REPRISE_ASSIGN_OR_RETURN(std::vector<ops::TensorType> outputs,
                           op->infer(view));
  outputs.resize(static_cast<size_t>(outputs_));
  return cpu::EvaluateNode(view, outputs);
}

absl::StatusOr<std::unique_ptr<OpTester::Lowered>> OpTester::Lower() const {
  auto lowered = std::make_unique<Lowered>();
  graph::Graph& graph = lowered->graph;
  graph::Node node = node_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr) {
      node.inputs.push_back(graph::kNoValue);
      continue;
    }
    graph::Value value;
    value.name = absl::StrCat("in", i);
    value.dtype = inputs_[i]->dtype();
    value.has_shape = true;
    value.dims = inputs_[i]->dims();
    value.symbols.assign(value.dims.size(), "");
    const auto id = static_cast<graph::ValueId>(graph.values.size());
    if (weights_.contains(i)) {
      value.constant = inputs_[i];
    } else {
      graph.inputs.push_back(id);
      lowered->signature.inputs.push_back(
          {value.name, value.dtype, value.dims, value.symbols});
      lowered->inputs.push_back(
          const_cast<std::byte*>(inputs_[i]->bytes().data()));  // NOLINT
    }
    node.inputs.push_back(id);
    graph.values.push_back(std::move(value));
  }
  for (int k = 0; k < outputs_; ++k) {
    const auto id = static_cast<graph::ValueId>(graph.values.size());
    graph.values.emplace_back();
    graph.values.back().name = absl::StrCat("out", k);
    node.outputs.push_back(id);
    graph.outputs.push_back(id);
  }
  graph.nodes.push_back(std::move(node));
  REPRISE_ASSIGN_OR_RETURN(lowered->bound,
                           ops::Bind(graph, lowered->signature, 1, {}));
  REPRISE_ASSIGN_OR_RETURN(
      lowered->program,
      cuda::Lower(lowered->bound, lowered->weights, options_));
  return lowered;
}

absl::Status OpTester::Status() const { return Lower().status(); }

std::string OpTester::Text() const {
  const auto lowered = Lower();
  if (!lowered.ok()) return lowered.status().ToString();
  return ProgramText((*lowered)->program);
}

void OpTester::ExpectSame(double tolerance) const {
  const auto want = Evaluate();
  ASSERT_THAT(want, IsOk()) << node_.op;
  const auto lowered = Lower();
  ASSERT_THAT(lowered, IsOk()) << node_.op;
  std::vector<HostTensor> have;
  std::vector<std::byte*> outputs;
  for (const HostTensor& tensor : *want) {
    have.push_back(HostTensor::Create(tensor.dtype(), tensor.dims()).value());
    outputs.push_back(have.back().bytes().data());
  }
  const std::string text = ProgramText((*lowered)->program);
  ASSERT_THAT(emulation::Run((*lowered)->program, (*lowered)->weights,
                             (*lowered)->inputs, outputs),
              IsOk())
      << text;
  for (size_t k = 0; k < have.size(); ++k) {
    ExpectNear(have[k], (*want)[k], tolerance,
               absl::StrCat("output ", k, " of\n", text));
  }
}

void OpTester::ExpectSameBy(const std::string& text, double tolerance) const {
  EXPECT_THAT(Text(), HasSubstr(text));
  ExpectSame(tolerance);
}

}  // namespace reprise::cuda
