#include "runtime/cpu/onednn.h"

#include <algorithm>
#include <limits>
#include <new>

#include "absl/strings/str_cat.h"

// libgomp's, which oneDNN is linked with. <omp.h> belongs to the compiler, and
// clang's declares another library's.
extern "C" {
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);
}

namespace reprise::cpu {
namespace {

absl::StatusCode CodeOf(dnnl_status_t status) {
  switch (status) {
    case dnnl_out_of_memory:
      return absl::StatusCode::kResourceExhausted;
    case dnnl_unimplemented:
    case dnnl_invalid_arguments:  // a combination that the library refuses
      return absl::StatusCode::kUnimplemented;
    default:
      return absl::StatusCode::kInternal;
  }
}

// What a primitive's kernel keeps between runs.
struct Call {
  std::shared_ptr<OneDnn> dnn;
  dnnl::primitive primitive;
  std::vector<PrimitiveArg> args;
  std::vector<dnnl::memory> memories;  // one for each of args, then scratch
  std::vector<void*> addresses;        // what each memory points to
  std::vector<dnnl_exec_arg_t> exec;

  void Point(size_t i, const std::byte* address) {
    void* target = const_cast<std::byte*>(address);  // NOLINT: the C API's type
    if (addresses[i] == target) return;
    addresses[i] = target;
    dnnl_memory_set_data_handle(memories[i].get(), target);
  }
};

constexpr auto kF32 = dnnl::memory::data_type::f32;
constexpr auto kInference = dnnl::prop_kind::forward_inference;
using Tag = dnnl::memory::format_tag;

// What differs between the library's versions, and nothing else does. Version 2
// describes an operation first and has one layout where an answer lies as its
// input does; version 3 makes the descriptor at once, names both layouts, and
// has parameters for what version 2 has fixed.
#if DNNL_VERSION_MAJOR >= 3

using SoftmaxForward = dnnl::softmax_forward;
using PoolingForward = dnnl::pooling_forward;

template <typename P, typename... Args>
auto Describe(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
              const Args&... args) {
  return typename P::primitive_desc(engine, args..., attr);
}

Eltwise Completed(Eltwise eltwise) {
  if (eltwise.kind == dnnl::algorithm::eltwise_hardswish) {
    eltwise.alpha = 1.0F / 6.0F;
    eltwise.beta = 0.5F;
  }
  if (eltwise.kind == dnnl::algorithm::eltwise_soft_relu) eltwise.alpha = 1;
  return eltwise;
}

void Append(const Eltwise& wanted, dnnl::post_ops& post) {
  const Eltwise eltwise = Completed(wanted);
  post.append_eltwise(eltwise.kind, eltwise.alpha, eltwise.beta);
}

auto DescribeEltwise(const dnnl::engine& engine,
                     const dnnl::primitive_attr& attr, const Eltwise& wanted,
                     const Layout& x) {
  const Eltwise eltwise = Completed(wanted);
  return Describe<dnnl::eltwise_forward>(engine, attr, kInference, eltwise.kind,
                                         x, x, eltwise.alpha, eltwise.beta);
}

template <typename P>
auto DescribeNorm(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
                  const Layout& x, float epsilon,
                  dnnl::normalization_flags flags) {
  return Describe<P>(engine, attr, kInference, x, x, epsilon, flags);
}

auto DescribeLrn(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
                 const Layout& x, const LrnSpec& spec) {
  return Describe<dnnl::lrn_forward>(
      engine, attr, kInference, dnnl::algorithm::lrn_across_channels, x, x,
      spec.size, spec.alpha, spec.beta, spec.bias);
}

auto DescribeConcat(const dnnl::engine& engine,
                    const dnnl::primitive_attr& attr, int axis,
                    const std::vector<Layout>& parts) {
  return dnnl::concat::primitive_desc(engine, axis, parts, attr);
}

#else

using SoftmaxForward = dnnl::softmax_v2_forward;
using PoolingForward = dnnl::pooling_v2_forward;

template <typename P, typename... Args>
auto Describe(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
              const Args&... args) {
  return typename P::primitive_desc(typename P::desc(args...), attr, engine);
}

void Append(const Eltwise& eltwise, dnnl::post_ops& post) {
  post.append_eltwise(1, eltwise.kind, eltwise.alpha, eltwise.beta);
}

auto DescribeEltwise(const dnnl::engine& engine,
                     const dnnl::primitive_attr& attr, const Eltwise& eltwise,
                     const Layout& x) {
  return Describe<dnnl::eltwise_forward>(engine, attr, kInference, eltwise.kind,
                                         x, eltwise.alpha, eltwise.beta);
}

template <typename P>
auto DescribeNorm(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
                  const Layout& x, float epsilon,
                  dnnl::normalization_flags flags) {
  return Describe<P>(engine, attr, kInference, x, epsilon, flags);
}

auto DescribeLrn(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
                 const Layout& x, const LrnSpec& spec) {
  return Describe<dnnl::lrn_forward>(
      engine, attr, kInference, dnnl::algorithm::lrn_across_channels, x,
      spec.size, spec.alpha, spec.beta, spec.bias);
}

auto DescribeConcat(const dnnl::engine& engine,
                    const dnnl::primitive_attr& attr, int axis,
                    const std::vector<Layout>& parts) {
  return dnnl::concat::primitive_desc(axis, parts, engine, attr);
}

#endif

dnnl::primitive_attr UserScratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

template <typename P>
Primitive Made(const typename P::primitive_desc& pd) {
  using dnnl::query;
  return {P(pd),
          pd.impl_info_str(),
          pd.query_md(query::src_md, 0),
          pd.query_md(query::weights_md, 0),
          pd.query_md(query::weights_md, 1),
          pd.query_md(query::dst_md, 0),
          pd.scratchpad_desc()};
}

}  // namespace

absl::StatusOr<std::shared_ptr<OneDnn>> OneDnn::Create() {
  auto dnn = std::make_shared<OneDnn>();
  const absl::Status made = Guarded("oneDNN's CPU engine", [&] {
    dnn->engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    dnn->stream = dnnl::stream(dnn->engine);
  });
  if (!made.ok()) return absl::InternalError(made.message());
  return dnn;
}

std::string OneDnn::Version() {
  const dnnl_version_t& version = *dnnl_version();
  return absl::StrCat(version.major, ".", version.minor, ".", version.patch);
}

absl::Status Guarded(absl::string_view what, absl::FunctionRef<void()> body) {
  try {
    body();
    return absl::OkStatus();
  } catch (const dnnl::error& error) {
    return absl::Status(CodeOf(error.status),
                        absl::StrCat(what, ": oneDNN: ", error.what()));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(what, ": out of memory"));
  }
}

Layout PlainLayout(const Dims& dims) {
  dnnl::memory::dims sizes(dims.begin(), dims.end());
  if (sizes.empty()) sizes.push_back(1);
  dnnl::memory::dims strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return Layout(sizes, dnnl::memory::data_type::f32, strides);
}

bool SameLayout(const Layout& a, const Layout& b) { return a == b; }

Primitive MakeConvPrimitive(const dnnl::engine& engine, const ConvSpec& spec,
                            const dnnl::primitive_attr& attr) {
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const Layout src(spec.src, kF32, Tag::any);
  const Layout dst(spec.dst, kF32, Tag::any);
  if (!spec.has_bias) {
    return Made<dnnl::convolution_forward>(Describe<dnnl::convolution_forward>(
        engine, attr, kInference, kDirect, src, spec.weights, dst, spec.strides,
        spec.dilations, spec.pads_begin, spec.pads_end));
  }
  const Layout bias({spec.dst[1]}, kF32, Tag::a);
  return Made<dnnl::convolution_forward>(Describe<dnnl::convolution_forward>(
      engine, attr, kInference, kDirect, src, spec.weights, bias, dst,
      spec.strides, spec.dilations, spec.pads_begin, spec.pads_end));
}

Primitive MakeMatMulPrimitive(const dnnl::engine& engine,
                              const MatMulSpec& spec,
                              const dnnl::primitive_attr& attr) {
  if (spec.bias.get_size() == 0) {
    return Made<dnnl::matmul>(
        Describe<dnnl::matmul>(engine, attr, spec.a, spec.b, spec.y));
  }
  return Made<dnnl::matmul>(
      Describe<dnnl::matmul>(engine, attr, spec.a, spec.b, spec.bias, spec.y));
}

Primitive MakePoolPrimitive(const dnnl::engine& engine, const PoolSpec& spec) {
  const Layout dst(spec.dst, kF32, Tag::any);
  return Made<PoolingForward>(Describe<PoolingForward>(
      engine, UserScratch(), kInference, spec.kind, spec.src, dst, spec.strides,
      spec.kernel, spec.dilations, spec.pads_begin, spec.pads_end));
}

Primitive MakeEltwisePrimitive(const dnnl::engine& engine,
                               const Eltwise& eltwise, const Layout& x) {
  return Made<dnnl::eltwise_forward>(
      DescribeEltwise(engine, UserScratch(), eltwise, x));
}

Primitive MakeBinaryPrimitive(const dnnl::engine& engine, dnnl::algorithm kind,
                              const Layout& a, const Layout& b,
                              const Layout& y) {
  return Made<dnnl::binary>(
      Describe<dnnl::binary>(engine, UserScratch(), kind, a, b, y));
}

Primitive MakeConcatPrimitive(const dnnl::engine& engine, int axis,
                              const std::vector<Layout>& parts) {
  return Made<dnnl::concat>(DescribeConcat(engine, UserScratch(), axis, parts));
}

Primitive MakeSoftmaxPrimitive(const dnnl::engine& engine, dnnl::algorithm kind,
                               const Layout& x, int axis) {
  return Made<SoftmaxForward>(Describe<SoftmaxForward>(
      engine, UserScratch(), kInference, kind, x, x, axis));
}

Primitive MakeLayerNormPrimitive(const dnnl::engine& engine, const Layout& x,
                                 float epsilon, bool shift) {
  auto flags = dnnl::normalization_flags::use_scale;
  if (shift) flags |= dnnl::normalization_flags::use_shift;
  return Made<dnnl::layer_normalization_forward>(
      DescribeNorm<dnnl::layer_normalization_forward>(engine, UserScratch(), x,
                                                      epsilon, flags));
}

Primitive MakeBatchNormPrimitive(const dnnl::engine& engine, const Layout& x,
                                 float epsilon) {
  return Made<dnnl::batch_normalization_forward>(
      DescribeNorm<dnnl::batch_normalization_forward>(
          engine, UserScratch(), x, epsilon,
          dnnl::normalization_flags::use_scale |
              dnnl::normalization_flags::use_shift |
              dnnl::normalization_flags::use_global_stats));
}

Primitive MakeLrnPrimitive(const dnnl::engine& engine, const Layout& x,
                           const LrnSpec& spec) {
  return Made<dnnl::lrn_forward>(DescribeLrn(engine, UserScratch(), x, spec));
}

Kernel PrimitiveKernel(std::shared_ptr<OneDnn> dnn, const Primitive& primitive,
                       const std::vector<PrimitiveArg>& args) {
  auto call = std::make_shared<Call>();
  call->dnn = std::move(dnn);
  call->primitive = primitive.run;
  call->args = args;
  const Layout& scratch = primitive.scratch;
  const auto scratch_bytes = static_cast<int64_t>(scratch.get_size());
  const auto add = [&](int id, const Layout& layout) {
    call->memories.emplace_back(layout, call->dnn->engine, nullptr);
    call->addresses.push_back(nullptr);
    call->exec.push_back({id, call->memories.back().get()});
  };
  for (const PrimitiveArg& arg : args) add(arg.id, arg.layout);
  if (scratch_bytes > 0) add(DNNL_ARG_SCRATCHPAD, scratch);
  return {[call](const KernelArgs& run) {
            for (size_t i = 0; i < call->args.size(); ++i) {
              const PrimitiveArg& arg = call->args[i];
              call->Point(i, arg.output ? run.outputs[arg.operand]
                                        : run.inputs[arg.operand]);
            }
            if (call->args.size() < call->memories.size()) {
              call->Point(call->args.size(), run.scratch);
            }
            const dnnl_status_t status = dnnl_primitive_execute(
                call->primitive.get(), call->dnn->stream.get(),
                static_cast<int>(call->exec.size()), call->exec.data());
            if (status != dnnl_success && run.failed != nullptr) {
              *run.failed = true;
            }
          },
          scratch_bytes};
}

Kernel ReorderKernel(std::shared_ptr<OneDnn> dnn, const Layout& from,
                     const Layout& to) {
  const dnnl::reorder::primitive_desc pd(dnn->engine, from, dnn->engine, to,
                                         UserScratch());
  return PrimitiveKernel(
      std::move(dnn), Made<dnnl::reorder>(pd),
      {{DNNL_ARG_FROM, from, false, 0}, {DNNL_ARG_TO, to, true, 0}});
}

void ReorderNow(OneDnn& dnn, const Layout& from, const void* source,
                const Layout& to, void* target) {
  dnnl::memory in(from, dnn.engine,
                  const_cast<void*>(source));  // NOLINT: only read
  dnnl::memory out(to, dnn.engine, target);
  dnnl::reorder(in, out).execute(dnn.stream, in, out);
  dnn.stream.wait();
}

bool SetActivationAttr(const ops::Activation& activation,
                       dnnl::primitive_attr& attr) {
  using dnnl::algorithm;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const float alpha = activation.alpha;
  const float beta = activation.beta;
  constexpr float kMax = std::numeric_limits<float>::max();
  dnnl::post_ops post;
  switch (activation.kind) {
    case ops::ActivationKind::kNone:
      return true;
    case ops::ActivationKind::kRelu:
      Append({algorithm::eltwise_relu, 0, 0}, post);
      break;
    case ops::ActivationKind::kLeakyRelu:
      Append({algorithm::eltwise_relu, alpha, 0}, post);
      break;
    case ops::ActivationKind::kClip:
      Append({algorithm::eltwise_clip, std::max(alpha, -kMax),
              std::min(beta, kMax)},
             post);
      break;
    case ops::ActivationKind::kSigmoid:
      Append({algorithm::eltwise_logistic, 0, 0}, post);
      break;
    case ops::ActivationKind::kTanh:
      Append({algorithm::eltwise_tanh, 0, 0}, post);
      break;
    case ops::ActivationKind::kHardSigmoid:
      Append({algorithm::eltwise_linear, alpha, beta}, post);
      Append({algorithm::eltwise_clip, 0, 1}, post);
      break;
    case ops::ActivationKind::kHardSwish:
      if (alpha != 1.0F / 6.0F || beta != 0.5F) return false;
      Append({algorithm::eltwise_hardswish, 0, 0}, post);
      break;
    case ops::ActivationKind::kSilu:
      Append({algorithm::eltwise_swish, 1, 0}, post);
      break;
  }
  attr.set_post_ops(post);
  return true;
}

ThreadsScope::ThreadsScope(int threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}

ThreadsScope::~ThreadsScope() { omp_set_num_threads(before_); }

}  // namespace reprise::cpu
