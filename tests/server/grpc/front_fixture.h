// The front on a free port, with models that need no device, and a client.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"
#include "prometheus/registry.h"
#include "prometheus/text_serializer.h"
#include "proto/grpc_service.grpc.pb.h"
#include "runtime/base/clock.h"
#include "runtime/model/registry.h"
#include "server/grpc/front.h"
#include "tests/server/fake_model_manager.h"
#include "tests/server/grpc/request_builder.h"

namespace reprise::testing {

using InferenceStub = inference::GRPCInferenceService::Stub;

class FrontTest : public ::testing::Test {
 protected:
  FrontTest() {
    registry_.Publish(MakeModel("simple", SimpleSignature()));
    registry_.Publish(
        MakeModel("bytes", IdentitySignature(DType::kUint8, {kFreeDim})));
  }

  void Start(GrpcOptions options = {}, Clock& clock = RealClock::Get()) {
    if (options.address == "127.0.0.1") options.port = 0;
    auto front = GrpcFront::Create(options, {.registry = registry_,
                                             .manager = manager_,
                                             .clock = clock,
                                             .metrics = metrics_,
                                             .version = "1.2.3"});
    ASSERT_TRUE(front.ok()) << front.status();
    front_ = *std::move(front);
    channel_ = NewChannel();
    stub_ = inference::GRPCInferenceService::NewStub(channel_);
  }

  // A connection of its own.
  std::shared_ptr<grpc::Channel> NewChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(
        front_->target(), grpc::InsecureChannelCredentials(), arguments);
  }

  grpc::Status Infer(const ModelInferRequest& request,
                     inference::ModelInferResponse* response = nullptr,
                     grpc::ClientContext* context = nullptr) {
    inference::ModelInferResponse ignored;
    grpc::ClientContext fresh;
    return stub_->ModelInfer(context != nullptr ? context : &fresh, request,
                             response != nullptr ? response : &ignored);
  }

  // Asserts that a good request is still answered.
  void ExpectAnswers() {
    inference::ModelInferResponse response;
    const grpc::Status status = Infer(SimpleRequest(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.raw_output_contents_size(), 2);
  }

  // The value of a series as the metrics page writes it; "" if there is none.
  std::string Metric(const std::string& series) const {
    const std::string text = absl::StrCat(
        "\n", prometheus::TextSerializer().Serialize(metrics_.Collect()));
    const size_t at = text.find(absl::StrCat("\n", series, " "));
    if (at == std::string::npos) return "";
    const size_t begin = at + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  prometheus::Registry metrics_;
  ModelRegistry registry_;
  FakeModelManager manager_{registry_, RealClock::Get()};
  std::unique_ptr<GrpcFront> front_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<InferenceStub> stub_;
};

}  // namespace reprise::testing
