#include "tests/runtime/cuda/ops/op_tester.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/status_macros.h"
#include "runtime/cuda/program.h"
#include "runtime/ops/bound_graph.h"
#include "runtime/tensor/float16.h"
#include "tests/runtime/cuda/emulation/emulator.h"
#include "tests/testing/status_matchers.h"

namespace reprise::cuda {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::Sequence;
using ::testing::HasSubstr;

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
  testing::OneNodeGraph one;
  ops::BoundGraph bound;
  CudaWeights weights;
  Program program;
};

OpTester::OpTester(const std::string& op, int version) {
  node_.node.op = op;
  node_.node.version = version;
}

OpTester& OpTester::In(HostTensor tensor) {
  node_.inputs.push_back(std::make_shared<const HostTensor>(std::move(tensor)));
  return *this;
}
OpTester& OpTester::Absent() {
  node_.inputs.push_back(nullptr);
  return *this;
}
OpTester& OpTester::Set(const std::string& name, graph::AttributeValue value) {
  node_.node.attributes.Set(name, std::move(value));
  return *this;
}
OpTester& OpTester::Outputs(int count) {
  node_.outputs = count;
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

absl::StatusOr<std::unique_ptr<OpTester::Lowered>> OpTester::Lower() const {
  auto lowered = std::make_unique<Lowered>();
  lowered->one = node_.MakeGraph(weights_);
  REPRISE_ASSIGN_OR_RETURN(
      lowered->bound,
      ops::Bind(lowered->one.graph, lowered->one.signature, 1, {}));
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
  const auto want = node_.Evaluate();
  ASSERT_THAT(want, IsOk()) << node_.node.op;
  const auto lowered = Lower();
  ASSERT_THAT(lowered, IsOk()) << node_.node.op;
  std::vector<HostTensor> have;
  std::vector<std::byte*> outputs;
  for (const HostTensor& tensor : *want) {
    have.push_back(HostTensor::Create(tensor.dtype(), tensor.dims()).value());
    outputs.push_back(have.back().bytes().data());
  }
  const std::string text = ProgramText((*lowered)->program);
  ASSERT_THAT(emulation::Run((*lowered)->program, (*lowered)->weights,
                             (*lowered)->one.slot_inputs, outputs),
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
