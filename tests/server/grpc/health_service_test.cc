#include "server/grpc/health_service.h"

#include <map>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "proto/health.grpc.pb.h"
#include "tests/server/grpc/front_fixture.h"

namespace reprise::testing {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::health::v1::HealthListResponse;
using ::testing::ElementsAre;
using ::testing::Pair;

class HealthServiceTest : public FrontTest {
 protected:
  // A Watch stream of a service.
  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;

    HealthStatus Next() {
      HealthCheckResponse response;
      return reader->Read(&response) ? response.status()
                                     : HealthCheckResponse::UNKNOWN;
    }
  };

  std::unique_ptr<Stream> Watch(const std::string& service) {
    auto stream = std::make_unique<Stream>();
    HealthCheckRequest request;
    request.set_service(service);
    stream->reader =
        Health::NewStub(channel_)->Watch(&stream->context, request);
    return stream;
  }

  grpc::Status Check(const std::string& service, HealthStatus* status) {
    grpc::ClientContext context;
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    const grpc::Status result =
        Health::NewStub(channel_)->Check(&context, request, &response);
    *status = response.status();
    return result;
  }
};

TEST_F(HealthServiceTest, CheckKnowsItsServicesAndNoOthers) {
  Start();
  HealthStatus status{};
  for (const char* service : {"", "liveness", "readiness",
                              "inference.GRPCInferenceService", "simple"}) {
    ASSERT_TRUE(Check(service, &status).ok()) << service;
    EXPECT_EQ(status, HealthCheckResponse::SERVING) << service;
  }
  EXPECT_EQ(Check("nope", &status).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(HealthServiceTest, ListHasEveryServiceThatCheckKnows) {
  Start();
  registry_.SetState("bytes", 1, VersionState::kUnloading, "");
  manager_.SetReady(false);
  grpc::ClientContext context;
  HealthListResponse response;
  ASSERT_TRUE(Health::NewStub(channel_)->List(&context, {}, &response).ok());
  std::map<std::string, HealthStatus> statuses;
  for (const auto& [service, health] : response.statuses()) {
    statuses[service] = health.status();
  }
  constexpr HealthStatus kServing = HealthCheckResponse::SERVING;
  constexpr HealthStatus kNotServing = HealthCheckResponse::NOT_SERVING;
  EXPECT_THAT(
      statuses,
      ElementsAre(Pair("", kServing), Pair("bytes", kNotServing),
                  Pair("inference.GRPCInferenceService", kNotServing),
                  Pair("liveness", kServing), Pair("readiness", kNotServing),
                  Pair("simple", kServing)));
}

TEST_F(HealthServiceTest, WatchTellsTheStateAtOnceAndEachChange) {
  Start();
  const auto model = Watch("simple");
  EXPECT_EQ(model->Next(), HealthCheckResponse::SERVING);
  registry_.SetState("simple", 1, VersionState::kUnloading, "");
  EXPECT_EQ(model->Next(), HealthCheckResponse::NOT_SERVING);
  registry_.Remove("simple", 0);
  EXPECT_EQ(model->Next(), HealthCheckResponse::SERVICE_UNKNOWN);
}

TEST_F(HealthServiceTest, WatchOfAnUnknownServiceStaysOpen) {
  Start();
  const auto late = Watch("late");
  EXPECT_EQ(late->Next(), HealthCheckResponse::SERVICE_UNKNOWN);
  registry_.Publish(MakeModel("late", SimpleSignature()));
  EXPECT_EQ(late->Next(), HealthCheckResponse::SERVING);
}

TEST_F(HealthServiceTest, AChangeThatNobodyAnnouncesIsFound) {
  Start();
  const auto readiness = Watch("readiness");
  EXPECT_EQ(readiness->Next(), HealthCheckResponse::SERVING);
  manager_.SetReady(false);
  EXPECT_EQ(readiness->Next(), HealthCheckResponse::NOT_SERVING);
}

TEST_F(HealthServiceTest, DrainingEndsReadinessThenTheStream) {
  Start();
  const auto readiness = Watch("readiness");
  EXPECT_EQ(readiness->Next(), HealthCheckResponse::SERVING);
  front_->StartDraining();
  EXPECT_EQ(readiness->Next(), HealthCheckResponse::NOT_SERVING);
  front_->StopAccepting();
  EXPECT_EQ(readiness->Next(), HealthCheckResponse::UNKNOWN);  // no more
  EXPECT_EQ(readiness->reader->Finish().error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HealthServiceTest, StreamsAreCountedByWhoEndedThem) {
  Start();
  const auto left = Watch("simple");
  EXPECT_EQ(left->Next(), HealthCheckResponse::SERVING);
  const auto closed = Watch("simple");
  EXPECT_EQ(closed->Next(), HealthCheckResponse::SERVING);
  const auto count = [&](const char* code) {
    return Metric(absl::StrCat("reprise_grpc_calls_total{code=\"", code,
                               "\",method=\"Watch\"}"));
  };
  left->context.TryCancel();
  left->reader->Finish();
  HealthStatus status{};
  while (count("CANCELLED") != "1") Check("", &status);  // it is heard of
  front_->StartDraining();
  front_->StopAccepting();
  closed->Next();
  closed->reader->Finish();
  front_->Shutdown(RealClock::Get().Now() + absl::Seconds(5));
  EXPECT_EQ(count("CANCELLED"), "1");
  EXPECT_EQ(count("UNAVAILABLE"), "1");
}

TEST_F(HealthServiceTest, AWatcherThatGoesIsForgotten) {
  Start();
  for (int i = 0; i < 20; ++i) {
    const auto stream = Watch("simple");
    EXPECT_EQ(stream->Next(), HealthCheckResponse::SERVING);
    stream->context.TryCancel();
    stream->reader->Finish();
  }
  registry_.SetState("simple", 1, VersionState::kUnloading, "");
  HealthStatus status{};
  EXPECT_TRUE(Check("", &status).ok());
}

}  // namespace
}  // namespace reprise::testing
