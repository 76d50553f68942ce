#include "client/client.h"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "client/files.h"
#include "client/status.h"
#include "tests/client/fake_service.h"
#include "tests/client/test_certificate.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::client::testing::FakeServer;
using reprise::testing::IsOk;
using reprise::testing::IsOkAndHolds;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClientTest : public ::testing::Test {
 protected:
  // A client whose retries do not wait, but note how long they would have.
  std::unique_ptr<Client> MakeClient(int infer_attempts = 1) {
    ClientOptions options;
    options.channel.target = server_.address();
    options.infer_attempts = infer_attempts;
    options.headers = {{"x-secret", "open"}};
    options.wait = [this](absl::Duration wait) { waits_.push_back(wait); };
    return *Client::Create(options);
  }

  static InferCall SimpleCall() {
    InferCall call;
    call.model = "simple";
    call.id = "17";
    std::vector<int32_t> values(16, 5);
    std::string bytes(64, '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    call.inputs = {{"INPUT0", "INT32", {1, 16}, bytes},
                   {"INPUT1", "INT32", {1, 16}, bytes}};
    return call;
  }

  FakeServer server_;
  std::vector<absl::Duration> waits_;
};

TEST_F(ClientTest, AsksEverything) {
  auto client = MakeClient();
  EXPECT_THAT(client->ServerLive(), IsOkAndHolds(true));
  EXPECT_THAT(client->ServerReady(), IsOkAndHolds(true));
  EXPECT_THAT(client->ModelReady("digits"), IsOkAndHolds(true));
  EXPECT_THAT(client->ModelReady("simple"), IsOkAndHolds(false));
  EXPECT_EQ(client->ServerMetadata()->version(), "1.2.3");
  EXPECT_EQ(client->ModelMetadata("digits")->inputs(0).name(), "image");
  EXPECT_EQ(client->ModelConfig("digits")->max_batch_size(), 32);
  EXPECT_EQ(client->ModelStatistics()->model_stats_size(), 2);
  EXPECT_EQ(client->ModelStatistics("digits")->model_stats_size(), 1);
  EXPECT_EQ(client->RepositoryIndex()->models_size(), 2);
  EXPECT_EQ(client->RepositoryIndex(true)->models_size(), 1);
  EXPECT_THAT(client->HealthCheck(),
              IsOkAndHolds(grpc::health::v1::HealthCheckResponse::SERVING));
}

TEST_F(ClientTest, InfersAndSendsItsHeaders) {
  const auto result = MakeClient()->Infer(SimpleCall());
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->id, "17");
  EXPECT_EQ(result->version, "1");
  ASSERT_EQ(result->outputs.size(), 2U);
  int32_t sum = 0;
  std::memcpy(&sum, result->outputs[0].bytes.data(), sizeof(sum));
  EXPECT_EQ(sum, 10);
  EXPECT_EQ(server_.service().last_headers().count("x-secret"), 1U);
}

TEST_F(ClientTest, InfersAsynchronously) {
  auto client = MakeClient();
  absl::StatusOr<InferResult> result = absl::UnknownError("not answered");
  absl::Notification answered;
  client->InferAsync(SimpleCall(), [&](absl::StatusOr<InferResult> answer) {
    result = std::move(answer);
    answered.Notify();
  });
  answered.WaitForNotification();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->outputs.size(), 2U);

  InferCall broken = SimpleCall();
  broken.inputs[0].bytes.clear();
  bool told = false;
  client->InferAsync(broken, [&](absl::StatusOr<InferResult> answer) {
    told = true;
    EXPECT_THAT(answer, StatusIs(absl::StatusCode::kInvalidArgument));
  });
  EXPECT_TRUE(told);
}

TEST_F(ClientTest, KeepsTheServersCodeAndMessage) {
  const auto config = MakeClient()->ModelConfig("nothing");
  EXPECT_THAT(config, StatusIs(absl::StatusCode::kNotFound,
                               "model \"nothing\" is not known"));
  EXPECT_TRUE(IsRpcError(config.status()));
}

TEST_F(ClientTest, LoadsWithOverridesAndUnloads) {
  auto client = MakeClient();
  LoadOverrides overrides;
  overrides.config = "{}";
  overrides.files["file:1/model.onnx"] = "bytes";
  EXPECT_THAT(client->LoadModel("digits", overrides), IsOk());
  const auto load = server_.service().last_load();
  EXPECT_EQ(load.parameters().at("config").string_param(), "{}");
  EXPECT_EQ(load.parameters().at("file:1/model.onnx").bytes_param(), "bytes");
  EXPECT_THAT(client->UnloadModel("digits", true), IsOk());
  EXPECT_TRUE(server_.service()
                  .last_unload()
                  .parameters()
                  .at("unload_dependents")
                  .bool_param());
}

TEST_F(ClientTest, ReadsComeBackAfterThePushback) {
  const grpc::Status busy(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy");
  server_.service().FailNext(busy, "30");
  server_.service().FailNext({grpc::StatusCode::UNAVAILABLE, "starting"});
  EXPECT_THAT(MakeClient()->ServerLive(), IsOkAndHolds(true));
  EXPECT_THAT(waits_,
              ElementsAre(absl::Milliseconds(30), absl::Milliseconds(200)));
}

TEST(ClientCreateTest, RefusesHeadersThatGrpcWouldNotCarry) {
  const std::pair<std::string, std::string> bad[] = {{"a b", "c"},
                                                     {"Upper", "c"},
                                                     {"", "c"},
                                                     {"x", "\x01"},
                                                     {"x", "\xC3\xA9"}};
  for (const auto& header : bad) {
    ClientOptions options;
    options.headers = {header};
    EXPECT_THAT(
        Client::Create(options),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header \"")))
        << header.first;
  }
  ClientOptions options;
  options.headers = {{"x-bin", "\x01\xC3"}, {"x", ""}, {"y_1.z", "a b"}};
  EXPECT_THAT(Client::Create(options), IsOk());
}

TEST_F(ClientTest, InferIsTriedOnceUnlessAllowed) {
  const grpc::Status busy(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy");
  server_.service().FailNext(busy, "30");
  EXPECT_THAT(MakeClient()->Infer(SimpleCall()),
              StatusIs(absl::StatusCode::kResourceExhausted, "busy"));
  EXPECT_THAT(waits_, ElementsAre());

  server_.service().FailNext(busy, "30");
  EXPECT_THAT(MakeClient(2)->Infer(SimpleCall()), IsOk());
  EXPECT_THAT(waits_, ElementsAre(absl::Milliseconds(30)));
}

TEST_F(ClientTest, DoesNotComeBackWhenAskedNotTo) {
  server_.service().FailNext({grpc::StatusCode::UNAVAILABLE, "going"}, "-1");
  EXPECT_THAT(MakeClient()->ServerLive(),
              StatusIs(absl::StatusCode::kUnavailable, "going"));
  EXPECT_EQ(server_.service().calls(), 1);
}

TEST_F(ClientTest, LoadsAreNeverRepeated) {
  server_.service().FailNext({grpc::StatusCode::UNAVAILABLE, "off"}, "1");
  EXPECT_THAT(MakeClient()->LoadModel("digits"),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(server_.service().calls(), 1);
}

TEST(ClientTransportTest, ReachesAUnixSocket) {
  const std::string address =
      absl::StrCat("unix:", ::testing::TempDir(), "/client_test.sock");
  const FakeServer server(address);
  ClientOptions options;
  options.channel.target = address;
  EXPECT_THAT((*Client::Create(options))->ServerLive(), IsOkAndHolds(true));
}

TEST(ClientTransportTest, AServerThatIsNotThereIsUnavailable) {
  ClientOptions options;
  options.channel.target = "localhost:1";
  options.retry.max_attempts = 1;
  const auto live = (*Client::Create(options))->ServerLive();
  EXPECT_THAT(live, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(IsRpcError(live.status()));
}

TEST(ClientTransportTest, ProvesItselfWithACertificate) {
  grpc::SslServerCredentialsOptions tls(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  tls.pem_root_certs = testing::kCertificate;
  tls.pem_key_cert_pairs.push_back({testing::kKey, testing::kCertificate});
  const FakeServer server("127.0.0.1:0", grpc::SslServerCredentials(tls));

  const std::string cert = ::testing::TempDir() + "/client_test.crt";
  const std::string key = ::testing::TempDir() + "/client_test.key";
  ASSERT_THAT(WriteFile(cert, testing::kCertificate), IsOk());
  ASSERT_THAT(WriteFile(key, testing::kKey), IsOk());
  ClientOptions options;
  options.channel.target = server.address();
  options.channel.ca_file = cert;
  options.channel.server_name = "reprise.test";
  options.retry.max_attempts = 1;
  EXPECT_THAT((*Client::Create(options))->ServerLive(),
              StatusIs(absl::StatusCode::kUnavailable));
  options.channel.cert_file = cert;
  options.channel.key_file = key;
  EXPECT_THAT((*Client::Create(options))->ServerLive(), IsOkAndHolds(true));
}

}  // namespace
}  // namespace reprise::client
