// MatMul and Gemm by oneDNN: constant right-hand sides are packed.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status_macros.h"
#include "runtime/cpu/ops/lower.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/matmul.h"

namespace reprise::cpu {
namespace {

using dnnl::memory;
constexpr auto kF32 = memory::data_type::f32;

// One product as oneDNN sees it. All shapes have the same rank.
struct Product {
  Layout a;
  Layout b_plain;     // how the right-hand side lies in the graph
  memory::dims b;     // its dims
  memory::dims bias;  // empty without one
  memory::dims y;
  float b_scale = 1;  // of a constant right-hand side
};

absl::Status LowerProduct(LoweringContext& context, const ops::NodeView& view,
                          const Product& product) {
  REPRISE_ASSIGN_OR_RETURN(const ops::Activation activation,
                           ops::ReadActivation(*view.node));
  const graph::Node& node = *view.node;
  const HostTensor* constant = view.constant(1);
  dnnl::primitive_attr attr;
  if (!SetActivationAttr(activation, attr)) {
    return ops::NotRunHere("not an activation that oneDNN has");
  }
  Primitive matmul;
  REPRISE_RETURN_IF_ERROR(Guarded(node.op, [&] {
    MatMulSpec spec;
    spec.a = product.a;
    spec.b = constant != nullptr
                 ? Layout(product.b, kF32, memory::format_tag::any)
                 : product.b_plain;
    spec.y = PlainLayout(Dims(product.y.begin(), product.y.end()));
    if (!product.bias.empty()) {
      spec.bias = PlainLayout(Dims(product.bias.begin(), product.bias.end()));
    }
    matmul = MakeMatMulPrimitive(context.dnn()->engine, spec, attr);
  }));
  REPRISE_ASSIGN_OR_RETURN(const plan::BufferId a,
                           context.Plain(node.inputs[0]));
  plan::BufferId b = plan::kNoBuffer;
  if (constant != nullptr &&
      (product.b_scale != 1 || !SameLayout(matmul.weights, product.b_plain))) {
    REPRISE_ASSIGN_OR_RETURN(
        const std::byte* packed,
        context.weights().Packed(
            *context.dnn(), context.bound().constants[node.inputs[1]],
            product.b_plain, matmul.weights, product.b_scale));
    b = context.AddConstant("packed", packed,
                            static_cast<int64_t>(matmul.weights.get_size()));
  } else {
    REPRISE_ASSIGN_OR_RETURN(b, context.Plain(node.inputs[1]));
  }
  std::vector<PrimitiveArg> args = {
      {DNNL_ARG_SRC, matmul.src, false, 0},
      {DNNL_ARG_WEIGHTS, matmul.weights, false, 1},
      {DNNL_ARG_DST, matmul.dst, true, 0}};
  std::vector<plan::BufferId> reads = {a, b};
  if (!product.bias.empty()) {
    REPRISE_ASSIGN_OR_RETURN(const plan::BufferId bias,
                             context.Plain(node.inputs[2]));
    args.push_back({DNNL_ARG_BIAS, matmul.bias, false, 2});
    reads.push_back(bias);
  }
  return Guarded(node.op, [&] {
    Kernel kernel = PrimitiveKernel(context.dnn(), matmul, args);
    const plan::BufferId y = context.Define(node.outputs[0]);
    context.AddStep(node.op + ":" + matmul.name, std::move(kernel),
                    std::move(reads), {y});
  });
}

// `batch` filled up with ones to `rank` dims, then [rows, columns].
Dims Matrices(const Dims& batch, size_t rank, int64_t rows, int64_t columns) {
  Dims dims(rank - batch.size(), 1);
  dims.insert(dims.end(), batch.begin(), batch.end());
  dims.push_back(rows);
  dims.push_back(columns);
  return dims;
}

memory::dims Copy(const Dims& dims) {
  return memory::dims(dims.begin(), dims.end());
}

}  // namespace

absl::Status LowerMatMulOneDnn(LoweringContext& context,
                               const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::MatMulParams params,
                           ops::ReadMatMul(view));
  if (!AllFp32(context, view)) {
    return ops::NotRunHere("oneDNN multiplies FP32");
  }
  Product product;
  // One right-hand side for all: a single tall product.
  const bool shared =
      ElementCount(params.b_batch) == 1 &&
      ElementCount(params.a_batch) == ElementCount(params.batch);
  const Dims no_batch;
  const size_t rank = shared ? 0 : params.batch.size();
  const int64_t m = shared ? params.m * ElementCount(params.a_batch) : params.m;
  const Dims a =
      Matrices(shared ? no_batch : params.a_batch, rank, m, params.k);
  const Dims b =
      Matrices(shared ? no_batch : params.b_batch, rank, params.k, params.n);
  const Dims y = Matrices(shared ? no_batch : params.batch, rank, m, params.n);
  REPRISE_RETURN_IF_ERROR(Guarded("MatMul", [&] {
    product.a = PlainLayout(a);
    product.b_plain = PlainLayout(b);
  }));
  product.b = Copy(b);
  product.y = Copy(y);
  if (params.has_bias) product.bias = Copy(Matrices({}, rank, 1, params.n));
  return LowerProduct(context, view, product);
}

absl::Status LowerGemmOneDnn(LoweringContext& context,
                             const ops::NodeView& view) {
  REPRISE_ASSIGN_OR_RETURN(const ops::GemmParams params, ops::ReadGemm(view));
  const bool scale_fits = params.alpha == 1 || view.constant(1) != nullptr;
  if (!AllFp32(context, view) || !scale_fits ||
      (params.has_c && params.beta != 1)) {
    return ops::NotRunHere("not a product that oneDNN has");
  }
  Product product;
  REPRISE_RETURN_IF_ERROR(Guarded("Gemm", [&] {
    const memory::dims a_strides =
        params.trans_a ? memory::dims{1, params.m} : memory::dims{params.k, 1};
    const memory::dims b_strides =
        params.trans_b ? memory::dims{1, params.k} : memory::dims{params.n, 1};
    product.a = Layout({params.m, params.k}, kF32, a_strides);
    product.b_plain = Layout({params.k, params.n}, kF32, b_strides);
  }));
  product.b = {params.k, params.n};
  product.y = {params.m, params.n};
  product.b_scale = params.alpha;
  if (params.has_c) {
    product.bias = Copy(view.dims(2));
    while (product.bias.size() < 2) {
      product.bias.insert(product.bias.begin(), 1);
    }
  }
  return LowerProduct(context, view, product);
}

}  // namespace reprise::cpu
