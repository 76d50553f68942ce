#include "server/grpc/front.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/server_builder.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "server/grpc/completion.h"
#include "server/grpc/credentials.h"
#include "server/grpc/goaway.h"
#include "server/grpc/listen.h"

namespace reprise {
namespace {

// For clients to hear of GOAWAY: some round trips of a slow network.
constexpr absl::Duration kGoawayGrace = absl::Milliseconds(500);

std::vector<std::string> ListedServices() {
  return {"inference.GRPCInferenceService", "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection"};
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcFront>> GrpcFront::Create(
    const GrpcOptions& options, const FrontDeps& deps) {
  auto front = absl::WrapUnique(new GrpcFront(options, deps));
  REPRISE_RETURN_IF_ERROR(front->Listen(options));
  if (!CanStopAccepting()) {
    LogWarning(
        "this gRPC library does not tell clients to go before it shuts down: "
        "calls that arrive in that moment end as CANCELLED");
  }
  front->PostCalls(options);
  return front;
}

GrpcFront::GrpcFront(const GrpcOptions& options, const FrontDeps& deps)
    : clock_(deps.clock),
      health_(deps.registry, deps.manager),
      context_{deps.registry, health_, deps.version, deps.clock},
      infer_metrics_(deps.metrics),
      calls_(prometheus::BuildCounter()
                 .Name("reprise_grpc_calls_total")
                 .Help("Finished calls but ModelInfer, by method and code; "
                       "methods that are not served are other")
                 .Register(deps.metrics)),
      slow_log_(options.slow_request),
      workers_("rpc", 1),
      loaders_("load-rpc", options.load_threads),
      monitor_(health_, deps.clock),
      changes_(deps.registry.AddListener([this] { monitor_.Wake(); })),
      reflection_("grpc.reflection.v1", ListedServices()),
      old_reflection_("grpc.reflection.v1alpha", ListedServices()),
      infer_{.request_call = nullptr,
             .registry = deps.registry,
             .manager = deps.manager,
             .clock = deps.clock,
             .metrics = infer_metrics_,
             .replies = replies_,
             .slow_log = slow_log_,
             .max_reply_bytes = static_cast<size_t>(options.max_message_bytes),
             .unavailable_when_full = options.unavailable_when_full},
      manager_(deps.manager) {}

GrpcFront::~GrpcFront() { Shutdown(clock_.Now()); }

absl::Status GrpcFront::Listen(const GrpcOptions& options) {
  REPRISE_ASSIGN_OR_RETURN(credentials_, MakeCredentials(options.tls, clock_));
  target_ = TargetOf(options.address, options.port);
  REPRISE_RETURN_IF_ERROR(CheckSocketIsFree(target_));
  grpc::ServerBuilder builder;
  ApplyOptions(options, builder);
  builder.AddListeningPort(target_, credentials_, &port_);
  builder.RegisterService(&inference_);
  builder.RegisterService(&health_service_);
  builder.RegisterService(&reflection_);
  builder.RegisterService(&old_reflection_);
  builder.RegisterAsyncGenericService(&unserved_);
  queue_ = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  if (server_ == nullptr)
    return WhyNotListening({options.address, options.port, "gRPC"});
  if (IsUnixTarget(target_)) {
    port_ = 0;
  } else {
    target_ = TargetOf(options.address, port_);
  }
  return absl::OkStatus();
}

void GrpcFront::PostCalls(const GrpcOptions& options) {
  infer_.request_call = [this](grpc::ServerContext* rpc,
                               grpc::ByteBuffer* message,
                               InferContext::Writer* writer, void* tag) {
    inference_.RequestModelInfer(rpc, message, writer, queue_.get(),
                                 queue_.get(), tag);
  };
  for (int i = 0; i < options.posted_calls; ++i) InferCall::Post(infer_);
  methods_ = PostUnaryMethods({.inference = inference_,
                               .health = health_service_,
                               .queue = *queue_,
                               .context = context_,
                               .manager = manager_,
                               .workers = workers_,
                               .loaders = loaders_,
                               .calls = calls_});
  PostStreams();
  for (int i = 0; i < options.threads; ++i) {
    pollers_.emplace_back("grpc", [this] { Poll(); });
  }
}

void GrpcFront::PostStreams() {
  const auto counter = [this](const char* method, const char* code) -> auto& {
    return calls_.Add({{"method", method}, {"code", code}});
  };
  prometheus::Counter& reflected = counter("ServerReflectionInfo", "OK");
  streams_ = std::make_unique<Streams>(Streams{
      .watch = {health_service_, *queue_, monitor_,
                counter("Watch", "CANCELLED"), counter("Watch", "UNAVAILABLE")},
      .reflection = {reflection_, *queue_, reflected},
      .old_reflection = {old_reflection_, *queue_, reflected},
      .unserved = {unserved_, *queue_, counter("other", "UNIMPLEMENTED")}});
  PostWatch(streams_->watch);
  PostReflection(streams_->reflection);
  PostReflection(streams_->old_reflection);
  PostUnimplemented(streams_->unserved);
}

void GrpcFront::Poll() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
    static_cast<CompletionHandler*>(tag)->OnCompletion(ok);
  }
}

void GrpcFront::SetLost() {
  health_.SetLost();
  monitor_.Wake();
}

void GrpcFront::StartDraining() {
  health_.StartDraining();
  monitor_.Wake();
}

void GrpcFront::StopAccepting() {
  if (!std::exchange(accepting_, false)) return;
  monitor_.Close();
  reprise::StopAccepting(*server_, clock_, kGoawayGrace);
}

void GrpcFront::Shutdown(absl::Time deadline) {
  if (shut_down_) return;
  shut_down_ = true;
  accepting_ = false;
  monitor_.Close();
  if (server_ != nullptr) {
    server_->Shutdown(absl::ToChronoTime(clock_.ToWall(deadline)));
  }
  // Whoever calls gRPC stops before its queue does.
  loaders_.Stop();
  workers_.Stop();
  replies_.Stop();
  if (queue_ != nullptr) queue_->Shutdown();
  for (Thread& poller : pollers_) poller.Join();
  // Without pollers (Create failed) the queue's events are still to be taken.
  if (queue_ != nullptr && pollers_.empty()) Poll();
}

}  // namespace reprise
