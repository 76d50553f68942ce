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

Kernel PrimitiveKernel(std::shared_ptr<OneDnn> dnn,
                       const dnnl::primitive& primitive,
                       const std::vector<PrimitiveArg>& args,
                       const Layout& scratch) {
  auto call = std::make_shared<Call>();
  call->dnn = std::move(dnn);
  call->primitive = primitive;
  call->args = args;
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
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc pd(dnn->engine, from, dnn->engine, to,
                                         attr);
  return PrimitiveKernel(
      std::move(dnn), dnnl::reorder(pd),
      {{DNNL_ARG_FROM, from, false, 0}, {DNNL_ARG_TO, to, true, 0}},
      pd.scratchpad_desc());
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
      post.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
      break;
    case ops::ActivationKind::kLeakyRelu:
      post.append_eltwise(1, algorithm::eltwise_relu, alpha, 0);
      break;
    case ops::ActivationKind::kClip:
      post.append_eltwise(1, algorithm::eltwise_clip, std::max(alpha, -kMax),
                          std::min(beta, kMax));
      break;
    case ops::ActivationKind::kSigmoid:
      post.append_eltwise(1, algorithm::eltwise_logistic, 0, 0);
      break;
    case ops::ActivationKind::kTanh:
      post.append_eltwise(1, algorithm::eltwise_tanh, 0, 0);
      break;
    case ops::ActivationKind::kHardSigmoid:
      post.append_eltwise(1, algorithm::eltwise_linear, alpha, beta);
      post.append_eltwise(1, algorithm::eltwise_clip, 0, 1);
      break;
    case ops::ActivationKind::kHardSwish:
      if (alpha != 1.0F / 6.0F || beta != 0.5F) return false;
      post.append_eltwise(1, algorithm::eltwise_hardswish, 0, 0);
      break;
    case ops::ActivationKind::kSilu:
      post.append_eltwise(1, algorithm::eltwise_swish, 1, 0);
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
