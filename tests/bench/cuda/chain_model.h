// The chains of element-wise operators that chain_bench runs in several ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/tensor/dtype.h"

namespace reprise::bench {

// The first `links` operators, eight at most, of
//   y = relu((tanh(sigmoid(relu(x * 1.5 + 0.25))) - 0.625) * -2)
// over so many elements of FP32 or FP16.
struct ChainShape {
  int links = 0;
  DType type = DType::kFp32;
  int64_t elements = 0;  // a multiple of 8
};

// Bytes of the input, and of the output.
int64_t BytesOf(const ChainShape& shape);

// The model, as ONNX: one row has all elements.
std::string ChainModel(const ChainShape& shape);

// Numbers between -2 and 2 that both types have.
std::vector<std::byte> ChainInput(const ChainShape& shape);

// DATA_LOSS: an element of the output is not what FP64 makes of ChainInput, but
// for rounding: after each operator, of what FP16 stores.
absl::Status CheckChain(const ChainShape& shape,
                        std::span<const std::byte> output);

}  // namespace reprise::bench
