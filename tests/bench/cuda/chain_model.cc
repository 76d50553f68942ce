#include "tests/bench/cuda/chain_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/tensor/float16.h"
#include "tests/testing/onnx_builder.h"

namespace reprise::bench {
namespace {

struct Link {
  const char* op;
  float number = 0;  // the second operand, unless it is 0
};
constexpr std::array<Link, 8> kLinks = {{{"Mul", 1.5F},
                                         {"Add", 0.25F},
                                         {"Relu"},
                                         {"Sigmoid"},
                                         {"Tanh"},
                                         {"Sub", 0.625F},
                                         {"Mul", -2},
                                         {"Relu"}}};

// Inputs repeat after so many elements: no multiple of what a thread or a block
// takes, so that one in the wrong place shows.
constexpr size_t kPeriod = 1021;

float InputAt(size_t index) {
  return static_cast<float>(index) / 256.0F - 2.0F;
}

double Exact(int links, double x) {
  if (links > 0) x *= 1.5;
  if (links > 1) x += 0.25;
  if (links > 2) x = std::max(x, 0.0);
  if (links > 3) x = 1 / (1 + std::exp(-x));
  if (links > 4) x = std::tanh(x);
  if (links > 5) x -= 0.625;
  if (links > 6) x *= -2;
  if (links > 7) x = std::max(x, 0.0);
  return x;
}

template <typename T>
std::vector<std::byte> InputOf(int64_t elements) {
  std::vector<std::byte> bytes(static_cast<size_t>(elements) * sizeof(T));
  for (size_t i = 0; i < static_cast<size_t>(elements); ++i) {
    const T value = InputAt(i % kPeriod);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <typename T>
absl::Status Check(int links, std::span<const std::byte> output,
                   double tolerance) {
  std::vector<double> want(kPeriod);
  for (size_t i = 0; i < kPeriod; ++i) {
    want[i] = Exact(links, static_cast<double>(InputAt(i)));
  }
  for (size_t i = 0; i * sizeof(T) < output.size(); ++i) {
    T element;
    std::memcpy(&element, output.data() + i * sizeof(T), sizeof(T));
    const auto have = static_cast<double>(static_cast<float>(element));
    const double exact = want[i % kPeriod];
    // NaN is never near.
    if (std::abs(have - exact) <= tolerance * (1 + std::abs(exact))) continue;
    return absl::DataLossError(
        absl::StrCat("element ", i, " is ", have, ", not ", exact));
  }
  return absl::OkStatus();
}

// A tensor without axes.
void AddNumber(testing::OnnxBuilder& model, const std::string& name, int type,
               float number) {
  if (type == testing::OnnxBuilder::kFloat) {
    model.Floats(name, {}, {number});
    return;
  }
  onnx::TensorProto& tensor = *model.graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  const Half half = number;
  tensor.set_raw_data(&half, sizeof(half));
}

}  // namespace

int64_t BytesOf(const ChainShape& shape) {
  return shape.elements * static_cast<int64_t>(ElementSize(shape.type));
}

std::string ChainModel(const ChainShape& shape) {
  const int type = shape.type == DType::kFp32 ? onnx::TensorProto::FLOAT
                                              : onnx::TensorProto::FLOAT16;
  testing::OnnxBuilder model(17);
  model.Input("x", {"N", shape.elements}, type);
  std::string last = "x";
  for (int i = 0; i < shape.links; ++i) {
    const Link& link = kLinks[static_cast<size_t>(i)];
    std::vector<std::string> inputs = {last};
    if (link.number != 0) {
      inputs.push_back(absl::StrCat("number", i));
      AddNumber(model, inputs.back(), type, link.number);
    }
    last = i + 1 == shape.links ? "y" : absl::StrCat("link", i);
    model.Node(link.op, inputs, {last});
  }
  model.Output("y", {"N", shape.elements}, type);
  return model.Bytes();
}

std::vector<std::byte> ChainInput(const ChainShape& shape) {
  return shape.type == DType::kFp32 ? InputOf<float>(shape.elements)
                                    : InputOf<Half>(shape.elements);
}

absl::Status CheckChain(const ChainShape& shape,
                        std::span<const std::byte> output) {
  return shape.type == DType::kFp32 ? Check<float>(shape.links, output, 1e-5)
                                    : Check<Half>(shape.links, output, 4e-3);
}

}  // namespace reprise::bench
