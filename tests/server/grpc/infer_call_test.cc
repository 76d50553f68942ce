#include "server/grpc/infer_call.h"

#include <atomic>
#include <map>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "runtime/base/thread.h"
#include "runtime/worker/retry_after.h"
#include "tests/server/grpc/front_fixture.h"
#include "tests/testing/fake_clock.h"

namespace reprise::testing {
namespace {

using inference::ModelInferResponse;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using InferCallTest = FrontTest;

constexpr char kLabels[] = "{model=\"simple\",version=\"1\"";

TEST_F(InferCallTest, AReplyHoldsWhatTheModelGave) {
  Start();
  ModelInferRequest request = SimpleRequest(2);
  request.set_id("id-7");
  ModelInferResponse response;
  const grpc::Status status = Infer(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.model_name(), "simple");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_EQ(response.id(), "id-7");
  EXPECT_THAT(response.raw_output_contents(),
              ElementsAre(request.raw_input_contents(0),
                          request.raw_input_contents(1)));
}

TEST_F(InferCallTest, MegabytesGoThereAndBack) {
  Start();
  for (const bool may_hold_slot : {true, false}) {
    manager_.SetMayHoldSlot(may_hold_slot);
    for (const size_t size : {size_t{0}, size_t{1000}, size_t{5} << 20}) {
      std::string bytes(size, '\0');
      for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7);
      ModelInferRequest request;
      request.set_model_name("bytes");
      AddInput(request, "INPUT0", "UINT8", {1, static_cast<int64_t>(size)});
      request.add_raw_input_contents(bytes);
      ModelInferResponse response;
      const grpc::Status status = Infer(request, &response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(response.raw_output_contents(0), bytes);
    }
  }
}

TEST_F(InferCallTest, CompressedRequestsAreServed) {
  Start();
  for (const auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    EXPECT_TRUE(Infer(SimpleRequest(8), nullptr, &context).ok());
  }
}

TEST_F(InferCallTest, ARefusalNamesTheRequestAndTheNextCallIsAnswered) {
  Start();
  ModelInferRequest request = SimpleRequest();
  request.set_id("bad-1");
  request.mutable_inputs(0)->set_datatype("FP32");
  const grpc::Status status = Infer(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("[request id: bad-1] "));
  request.set_id(std::string(100000, 'x'));
  EXPECT_EQ(Infer(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ExpectAnswers();
}

TEST_F(InferCallTest, UnknownModelsAndVersionsAreToldApart) {
  Start();
  ModelInferRequest request = SimpleRequest();
  request.set_model_name("nope");
  EXPECT_EQ(Infer(request).error_code(), grpc::StatusCode::NOT_FOUND);
  request = SimpleRequest();
  request.set_model_version("9");
  EXPECT_EQ(Infer(request).error_code(), grpc::StatusCode::NOT_FOUND);
  request.set_model_version("1abc");
  EXPECT_EQ(Infer(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ExpectAnswers();
  EXPECT_EQ(Metric("reprise_requests_total{code=\"NOT_FOUND\",model=\"\","
                   "version=\"\"}"),
            "2");
}

TEST_F(InferCallTest, AMessageThatIsNoneIsInternal) {
  Start();
  grpc::GenericStub raw(channel_);
  for (const std::string& bytes :
       {std::string(40, '\xff'),
        SimpleRequest().SerializeAsString().substr(1)}) {
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer message(&slice, 1);
    grpc::ByteBuffer reply;
    grpc::ClientContext context;
    absl::Notification done;
    grpc::Status status;
    raw.UnaryCall(&context, "/inference.GRPCInferenceService/ModelInfer", {},
                  &message, &reply, [&](grpc::Status s) {
                    status = std::move(s);
                    done.Notify();
                  });
    done.WaitForNotification();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  }
  ExpectAnswers();
}

TEST_F(InferCallTest, AFullQueueCarriesAHint) {
  Start();
  manager_.RefuseWith(WithRetryAfter(absl::ResourceExhaustedError("queue full"),
                                     absl::Milliseconds(40)));
  grpc::ClientContext context;
  const grpc::Status status = Infer(SimpleRequest(), nullptr, &context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto hint = trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(hint, trailers.end());
  EXPECT_EQ(hint->second, "40");
  EXPECT_EQ(Metric(std::string("reprise_request_deadline_total") +
                   "{model=\"simple\",outcome=\"rejected_admission\","
                   "version=\"1\"}"),
            "1");
}

TEST_F(InferCallTest, AFullQueueCanBeUnavailableAsInTriton) {
  GrpcOptions options;
  options.unavailable_when_full = true;
  Start(options);
  manager_.RefuseWith(absl::ResourceExhaustedError("queue full"));
  EXPECT_EQ(Infer(SimpleRequest()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(InferCallTest, ACancelledCallIsTakenBackAndNeverRuns) {
  Start();
  manager_.Hold();
  grpc::ClientContext context;
  grpc::Status status;
  Thread caller("caller",
                [&] { status = Infer(SimpleRequest(), nullptr, &context); });
  manager_.AwaitHeld(1);
  context.TryCancel();
  caller.Join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  manager_.AwaitCancels(1);
  manager_.Release();
  EXPECT_EQ(manager_.launched(), 0);
  ExpectAnswers();
}

TEST_F(InferCallTest, AnExpiredCallIsTakenBackAndNeverRuns) {
  Start();
  manager_.Hold();
  grpc::ClientContext context;
  context.set_deadline(
      absl::ToChronoTime(RealClock::Get().Now() + absl::Milliseconds(30)));
  const grpc::Status status = Infer(SimpleRequest(), nullptr, &context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  manager_.AwaitCancels(1);
  manager_.Release();
  EXPECT_EQ(manager_.launched(), 0);
  ExpectAnswers();
}

TEST_F(InferCallTest, WhatRanForACallerWhoWentAwayIsNoAnswer) {
  Start();
  manager_.Hold();
  manager_.SetRunning();
  grpc::ClientContext cancelled;
  Thread caller("caller", [&] { Infer(SimpleRequest(), nullptr, &cancelled); });
  manager_.AwaitHeld(1);
  cancelled.TryCancel();
  caller.Join();
  grpc::ClientContext expired;
  expired.set_deadline(
      absl::ToChronoTime(RealClock::Get().Now() + absl::Milliseconds(30)));
  Infer(SimpleRequest(), nullptr, &expired);
  manager_.AwaitCancels(2);
  // The caller's deadline may be over before the server's.
  while (RealClock::Get().Now() < manager_.first_deadline()) {
    grpc::ClientContext context;
    inference::ServerLiveResponse live;
    stub_->ServerLive(&context, {}, &live);
  }
  manager_.Release();
  front_.reset();  // all has been counted
  const auto requests = [&](const char* code) {
    return Metric(absl::StrCat("reprise_requests_total{code=\"", code,
                               "\",model=\"simple\",version=\"1\"}"));
  };
  EXPECT_EQ(requests("CANCELLED"), "1");
  EXPECT_EQ(requests("DEADLINE_EXCEEDED"), "1");
  EXPECT_EQ(requests("OK"), "");
  const auto outcomes = [&](const char* outcome) {
    return Metric(
        absl::StrCat("reprise_request_deadline_total{model=\"simple"
                     "\",outcome=\"",
                     outcome, "\",version=\"1\"}"));
  };
  EXPECT_EQ(outcomes("cancelled"), "1");
  EXPECT_EQ(outcomes("late"), "1");
  EXPECT_EQ(outcomes("met"), "0");
  EXPECT_EQ(Metric(std::string("reprise_request_rows_total") + kLabels + "}"),
            "0");
}

TEST_F(InferCallTest, ADeadlineIsByTheServersClockNotByTheWallClock) {
  FakeClock clock;
  const RealClock& real = RealClock::Get();
  clock.SetWallOffset(real.ToWall(real.Now()) - clock.Now());
  Start({}, clock);
  ASSERT_TRUE(Infer(SimpleRequest()).ok());
  EXPECT_EQ(manager_.last_deadline(), absl::InfiniteFuture());
  grpc::ClientContext context;
  context.set_deadline(
      absl::ToChronoTime(clock.ToWall(clock.Now() + absl::Hours(2))));
  ASSERT_TRUE(Infer(SimpleRequest(), nullptr, &context).ok());
  EXPECT_GT(manager_.last_deadline(), clock.Now() + absl::Hours(1));
  EXPECT_LT(manager_.last_deadline(), clock.Now() + absl::Hours(3));
  front_.reset();  // before its clock
}

TEST_F(InferCallTest, AReplyAboveTheLimitIsRefused) {
  GrpcOptions options;
  options.max_message_bytes = 4096;
  Start(options);
  registry_.Publish(
      MakeModel("wide", IdentitySignature(DType::kInt64, {1000})));
  ModelInferRequest request;  // a byte an element; eight in the reply
  request.set_model_name("wide");
  auto& input = AddInput(request, "INPUT0", "INT64", {1, 1000});
  for (int i = 0; i < 1000; ++i) {
    input.mutable_contents()->add_int64_contents(1);
  }
  const grpc::Status status = Infer(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("size limit of 4096"));

  request = SimpleRequest();
  request.mutable_raw_input_contents(0)->resize(8000);  // above the limit, too
  EXPECT_EQ(Infer(request).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ExpectAnswers();
}

TEST_F(InferCallTest, RepliesByCodeAndOutcomesAddUpToTheCalls) {
  Start();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Infer(SimpleRequest(3)).ok());
  ModelInferRequest bad = SimpleRequest();
  bad.mutable_inputs(0)->set_name("nope");
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(Infer(bad).ok());
  const std::string tail = std::string(kLabels) + "}";
  EXPECT_EQ(Metric("reprise_request_rows_total" + tail), "15");
  EXPECT_EQ(Metric("reprise_request_duration_seconds_count" + tail), "7");
  EXPECT_EQ(Metric("reprise_requests_total{code=\"OK\",model=\"simple\","
                   "version=\"1\"}"),
            "5");
  EXPECT_EQ(Metric("reprise_requests_total{code=\"INVALID_ARGUMENT\","
                   "model=\"simple\",version=\"1\"}"),
            "2");
  EXPECT_EQ(Metric("reprise_request_deadline_total{model=\"simple\","
                   "outcome=\"met\",version=\"1\"}"),
            "5");
  EXPECT_EQ(Metric("reprise_request_deadline_total{model=\"simple\","
                   "outcome=\"invalid\",version=\"1\"}"),
            "2");
}

TEST_F(InferCallTest, StatisticsAddUpToTheWholeRequest) {
  Start();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Infer(SimpleRequest(2)).ok());
  const ModelStatistics::Snapshot data =
      (*registry_.Acquire("simple", ""))->statistics().snapshot();
  EXPECT_EQ(data.success.count, 3u);
  EXPECT_EQ(data.inference_count, 6u);
  EXPECT_EQ(data.success.total, data.queue.total + data.compute_input.total +
                                    data.compute_infer.total +
                                    data.compute_output.total);
}

TEST_F(InferCallTest, ManyCallersAndCancelsAreEachAnsweredOnce) {
  GrpcOptions options;
  options.threads = 2;
  options.posted_calls = 4;
  Start(options);
  constexpr int kCallers = 8;
  constexpr int kCalls = 150;
  std::atomic<int> answered{0};
  {
    std::vector<Thread> callers;
    for (int c = 0; c < kCallers; ++c) {
      callers.emplace_back("caller", [&, c] {
        const auto stub =
            inference::GRPCInferenceService::NewStub(NewChannel());
        for (int i = 0; i < kCalls; ++i) {
          grpc::ClientContext context;
          if ((i + c) % 5 == 0) context.TryCancel();
          ModelInferResponse response;
          const grpc::Status status =
              stub->ModelInfer(&context, SimpleRequest(1 + i % 8), &response);
          if (status.ok() ||
              status.error_code() == grpc::StatusCode::CANCELLED) {
            ++answered;
          }
        }
      });
    }
  }
  EXPECT_EQ(answered, kCallers * kCalls);
  ExpectAnswers();
}

}  // namespace
}  // namespace reprise::testing
