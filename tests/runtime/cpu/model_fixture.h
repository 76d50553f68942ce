// Small imported models for tests of the CPU device.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/graph/graph.h"
#include "runtime/onnx/importer.h"
#include "runtime/ops/infer_signature.h"
#include "runtime/tensor/signature.h"
#include "tests/testing/onnx_builder.h"

namespace reprise::cpu {

struct TestModel {
  std::shared_ptr<const graph::Graph> graph;
  Signature signature;
};

inline TestModel Import(const testing::OnnxBuilder& builder, int max_batch) {
  TestModel model;
  auto graph = onnx_import::ImportModel(builder.Bytes(), {});
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return model;
  model.graph = std::make_shared<graph::Graph>(*std::move(graph));
  auto inferred = ops::InferSignature(*model.graph, {});
  EXPECT_TRUE(inferred.ok()) << inferred.status();
  if (!inferred.ok()) return model;
  model.signature = inferred->signature;
  model.signature.max_batch = max_batch;
  return model;
}

// Values between -1 and 1 that look random.
inline std::vector<float> Noise(size_t count, unsigned seed) {
  std::vector<float> values(count);
  unsigned state = seed * 2654435761u + 12345u;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
  }
  return values;
}

// A small residual network: Conv+BN+Relu, Conv+Add+Relu, MaxPool,
// GlobalAveragePool, Gemm, Softmax over [N, 3, 12, 12].
inline testing::OnnxBuilder ConvNet() {
  const auto positive = [](size_t count, unsigned seed) {
    std::vector<float> values = Noise(count, seed);
    for (float& value : values) value = 1.5F + value;
    return values;
  };
  testing::OnnxBuilder model(13);
  model.Input("x", {"N", 3, 12, 12})
      .Floats("w1", {8, 3, 3, 3}, Noise(216, 1))
      .Floats("scale", {8}, positive(8, 2))
      .Floats("bias", {8}, Noise(8, 3))
      .Floats("mean", {8}, Noise(8, 4))
      .Floats("var", {8}, positive(8, 5))
      .Floats("w2", {8, 8, 3, 3}, Noise(576, 6))
      .Floats("b2", {8}, Noise(8, 7))
      .Floats("fc", {5, 8}, Noise(40, 8))
      .Floats("fb", {5}, Noise(5, 9))
      .Node("Conv", {"x", "w1"}, {"c1"}, "conv1")
      .Ints("pads", {1, 1, 1, 1})
      .Node("BatchNormalization", {"c1", "scale", "bias", "mean", "var"},
            {"n1"}, "bn1")
      .Node("Relu", {"n1"}, {"r1"})
      .Node("Conv", {"r1", "w2", "b2"}, {"c2"}, "conv2")
      .Ints("pads", {1, 1, 1, 1})
      .Node("Add", {"c2", "r1"}, {"a2"})
      .Node("Relu", {"a2"}, {"r2"})
      .Node("MaxPool", {"r2"}, {"p"})
      .Ints("kernel_shape", {2, 2})
      .Ints("strides", {2, 2})
      .Node("GlobalAveragePool", {"p"}, {"g"})
      .Node("Flatten", {"g"}, {"f"})
      .Node("Gemm", {"f", "fc", "fb"}, {"logits"})
      .Int("transB", 1)
      .Node("Softmax", {"logits"}, {"y"})
      .Int("axis", -1)
      .Output("y", {"N", 5});
  return model;
}

}  // namespace reprise::cpu
