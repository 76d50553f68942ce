// Small models of the shapes that the CUDA device serves first.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/runtime/cpu/model_fixture.h"
#include "tests/testing/onnx_builder.h"

namespace reprise::cuda {

// Gemm+Relu twice, Gemm, Softmax; weights as PyTorch exports them, transposed.
inline testing::OnnxBuilder Mlp(int64_t in, int64_t hidden, int64_t out) {
  const auto noise = [](int64_t count, unsigned seed) {
    return cpu::Noise(static_cast<size_t>(count), seed);
  };
  testing::OnnxBuilder model(13);
  model.Input("x", {"N", in})
      .Floats("w1", {hidden, in}, noise(hidden * in, 1))
      .Floats("b1", {hidden}, noise(hidden, 2))
      .Floats("w2", {hidden, hidden}, noise(hidden * hidden, 3))
      .Floats("b2", {hidden}, noise(hidden, 4))
      .Floats("w3", {out, hidden}, noise(out * hidden, 5))
      .Floats("b3", {out}, noise(out, 6))
      .Node("Gemm", {"x", "w1", "b1"}, {"h1"})
      .Int("transB", 1)
      .Node("Relu", {"h1"}, {"r1"})
      .Node("Gemm", {"r1", "w2", "b2"}, {"h2"})
      .Int("transB", 1)
      .Node("Relu", {"h2"}, {"r2"})
      .Node("Gemm", {"r2", "w3", "b3"}, {"logits"})
      .Int("transB", 1)
      .Node("Softmax", {"logits"}, {"y"})
      .Int("axis", -1)
      .Output("y", {"N", out});
  return model;
}

// Writes a layer of a transformer encoder, node by node.
class EncoderWriter {
 public:
  static constexpr int64_t kWords = 20;
  static constexpr int64_t kLength = 6;
  static constexpr int64_t kWidth = 32;
  static constexpr int64_t kHeads = 4;

  testing::OnnxBuilder Write(bool fused_norm) {
    model_.Input("ids", {"N", kLength}, testing::OnnxBuilder::kInt64)
        .Floats("words", {kWords, kWidth}, Noise(kWords * kWidth))
        .Floats("places", {1, kLength, kWidth}, Noise(kLength * kWidth))
        .Int64s("to_heads", {4}, {0, kLength, kHeads, kWidth / kHeads})
        .Int64s("from_heads", {3}, {0, kLength, kWidth})
        .Floats("two", {}, {2})
        .Floats("half", {}, {0.5F})
        .Floats("one", {}, {1})
        .Floats("root", {}, {std::sqrt(2.0F)})
        .Floats("scale", {}, {std::sqrt(8.0F)})
        .Floats("epsilon", {}, {1e-5F});
    model_.Node("Gather", {"words", "ids"}, {"embedded"});
    model_.Node("Add", {"embedded", "places"}, {"x"});
    Norm("x", "n1", fused_norm);
    Attention("n1", "attention");
    model_.Node("Add", {"x", "attention"}, {"x2"});
    Norm("x2", "n2", fused_norm);
    Linear("n2", "up", kWidth, 2 * kWidth);
    Gelu("up", "activated");
    Linear("activated", "down", 2 * kWidth, kWidth);
    model_.Node("Add", {"x2", "down"}, {"y"});
    model_.Output("y", {"N", kLength, kWidth});
    return model_;
  }

 private:
  std::vector<float> Noise(int64_t count) {
    std::vector<float> values = cpu::Noise(static_cast<size_t>(count), ++seed_);
    for (float& value : values) value *= 0.3F;
    return values;
  }

  void Linear(const std::string& x, const std::string& y, int64_t in,
              int64_t out) {
    model_.Floats(y + ".w", {in, out}, Noise(in * out))
        .Floats(y + ".b", {out}, Noise(out))
        .Node("MatMul", {x, y + ".w"}, {y + ".product"})
        .Node("Add", {y + ".b", y + ".product"}, {y});
  }

  void Norm(const std::string& x, const std::string& y, bool fused) {
    model_.Floats(y + ".g", {kWidth}, Noise(kWidth))
        .Floats(y + ".b", {kWidth}, Noise(kWidth));
    if (fused) {
      model_.Node("LayerNormalization", {x, y + ".g", y + ".b"}, {y});
      return;
    }
    model_.Node("ReduceMean", {x}, {y + ".mean"})
        .Ints("axes", {-1})
        .Node("Sub", {x, y + ".mean"}, {y + ".centred"})
        .Node("Pow", {y + ".centred", "two"}, {y + ".squares"})
        .Node("ReduceMean", {y + ".squares"}, {y + ".variance"})
        .Ints("axes", {-1})
        .Node("Add", {y + ".variance", "epsilon"}, {y + ".above"})
        .Node("Sqrt", {y + ".above"}, {y + ".deviation"})
        .Node("Div", {y + ".centred", y + ".deviation"}, {y + ".unit"})
        .Node("Mul", {y + ".unit", y + ".g"}, {y + ".scaled"})
        .Node("Add", {y + ".scaled", y + ".b"}, {y});
  }

  // `x` as heads, axes in the order `perm`.
  void Heads(const std::string& x, const std::string& y,
             const std::vector<int64_t>& perm) {
    Linear(x, y + ".flat", kWidth, kWidth);
    model_.Node("Reshape", {y + ".flat", "to_heads"}, {y + ".heads"})
        .Node("Transpose", {y + ".heads"}, {y})
        .Ints("perm", perm);
  }

  void Attention(const std::string& x, const std::string& y) {
    Heads(x, y + ".q", {0, 2, 1, 3});
    Heads(x, y + ".k", {0, 2, 3, 1});
    Heads(x, y + ".v", {0, 2, 1, 3});
    model_.Node("MatMul", {y + ".q", y + ".k"}, {y + ".scores"})
        .Node("Div", {y + ".scores", "scale"}, {y + ".scaled"})
        .Node("Softmax", {y + ".scaled"}, {y + ".weights"})
        .Int("axis", -1)
        .Node("MatMul", {y + ".weights", y + ".v"}, {y + ".mixed"})
        .Node("Transpose", {y + ".mixed"}, {y + ".back"})
        .Ints("perm", {0, 2, 1, 3})
        .Node("Reshape", {y + ".back", "from_heads"}, {y + ".rows"});
    Linear(y + ".rows", y, kWidth, kWidth);
  }

  void Gelu(const std::string& x, const std::string& y) {
    model_.Node("Div", {x, "root"}, {y + ".inner"})
        .Node("Erf", {y + ".inner"}, {y + ".erf"})
        .Node("Add", {y + ".erf", "one"}, {y + ".sum"})
        .Node("Mul", {x, y + ".sum"}, {y + ".gated"})
        .Node("Mul", {y + ".gated", "half"}, {y});
  }

  testing::OnnxBuilder model_{17};
  unsigned seed_ = 0;
};

// Embedding, attention and a feed-forward part over [N, 6] words, its norms as
// LayerNormalization or in the parts that PyTorch's exporter writes.
inline testing::OnnxBuilder EncoderLayer(bool fused_norm) {
  return EncoderWriter().Write(fused_norm);
}

}  // namespace reprise::cuda
