#include "server/grpc/front.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/server/grpc/front_fixture.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(FrontTest, APortInUseIsOneClearLine) {
  Start();
  GrpcOptions options;
  options.port = front_->port();
  prometheus::Registry metrics;
  const auto second = GrpcFront::Create(options, {.registry = registry_,
                                                  .manager = manager_,
                                                  .clock = RealClock::Get(),
                                                  .metrics = metrics,
                                                  .version = ""});
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("Address already in use")));
  ExpectAnswers();
}

TEST_F(FrontTest, AUnixSocketIsServed) {
  GrpcOptions options;
  options.address =
      absl::StrCat("unix:", ::testing::TempDir(), "front_test.sock");
  Start(options);
  EXPECT_EQ(front_->port(), 0);
  ExpectAnswers();
}

TEST_F(FrontTest, ASocketThatIsServedIsNotTakenAway) {
  GrpcOptions options;
  options.address =
      absl::StrCat("unix:", ::testing::TempDir(), "front_test.sock");
  Start(options);
  prometheus::Registry metrics;
  const auto second = GrpcFront::Create(options, {.registry = registry_,
                                                  .manager = manager_,
                                                  .clock = RealClock::Get(),
                                                  .metrics = metrics,
                                                  .version = ""});
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("another process serves it")));
  stub_ = inference::GRPCInferenceService::NewStub(NewChannel());
  ExpectAnswers();
}

TEST_F(FrontTest, WhileDrainingItIsNotReadyButServes) {
  Start();
  front_->StartDraining();
  inference::ServerReadyResponse ready;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->ServerReady(&context, {}, &ready).ok());
  EXPECT_FALSE(ready.ready());
  ExpectAnswers();
}

TEST_F(FrontTest, AfterShutdownCallsAreUnavailable) {
  Start();
  ExpectAnswers();
  front_->StartDraining();
  front_->StopAccepting();
  manager_.Stop(absl::InfiniteFuture());
  front_->Shutdown(RealClock::Get().Now() + absl::Seconds(2));
  EXPECT_EQ(Infer(SimpleRequest()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(FrontTest, WhatIsAcceptedIsAnsweredBeforeItStops) {
  Start();
  manager_.Hold();
  grpc::Status status;
  Thread caller("caller", [&] { status = Infer(SimpleRequest()); });
  manager_.AwaitHeld(1);
  Thread drain("drain", [&] {
    front_->StartDraining();
    front_->StopAccepting();
    manager_.Release();
    manager_.Stop(absl::InfiniteFuture());
    front_->Shutdown(RealClock::Get().Now() + absl::Seconds(5));
  });
  caller.Join();
  drain.Join();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

}  // namespace
}  // namespace reprise::testing
