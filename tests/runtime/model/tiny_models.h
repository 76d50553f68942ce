// ONNX models of one node, as bytes.
#pragma once

#include <cstdint>
#include <string>

#include "tests/testing/onnx_builder.h"

namespace reprise::testing {

// x [N, width] -> y [N, width]
inline std::string ReluModel(int64_t width = 4) {
  return OnnxBuilder(13)
      .Input("x", {"N", width})
      .Node("Relu", {"x"}, {"y"}, "relu1")
      .Output("y", {"N", width})
      .Bytes();
}

// x [N, seq] -> y [N, seq]: a free dim besides the batch.
inline std::string FreeDimModel() {
  return OnnxBuilder(13)
      .Input("x", {"N", "seq"})
      .Node("Relu", {"x"}, {"y"}, "relu1")
      .Output("y", {"N", "seq"})
      .Bytes();
}

// x [N, 4] -> y [1, 4]: a maximum over the batch, which cannot be batched.
inline std::string MaxOverBatchModel() {
  return OnnxBuilder(13)
      .Input("x", {"N", 4})
      .Node("ReduceMax", {"x"}, {"y"}, "max1")
      .Ints("axes", {0})
      .Output("y", {1, 4})
      .Bytes();
}

// x [N, 4] -> y [N, 4], z [N, 4]
inline std::string TwoOutputsModel() {
  return OnnxBuilder(13)
      .Input("x", {"N", 4})
      .Node("Relu", {"x"}, {"y"}, "relu1")
      .Node("Neg", {"x"}, {"z"}, "neg1")
      .Output("y", {"N", 4})
      .Output("z", {"N", 4})
      .Bytes();
}

}  // namespace reprise::testing
