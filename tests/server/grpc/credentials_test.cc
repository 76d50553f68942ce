#include "server/grpc/credentials.h"

#include <string>
#include <utility>

#include "tests/server/grpc/front_fixture.h"
#include "tests/server/grpc/test_certificates.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CredentialsTest : public FrontTest {
 protected:
  void SetUp() override {
    if (!files_.available()) GTEST_SKIP() << "openssl is not installed";
    files_.MakeAuthority();
    files_.Issue("server");
    files_.Issue("client");
    options_.tls = files_.Options();
  }

  // Over a connection of its own.
  grpc::Status InferOverTls(bool with_certificate) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = files_.Read("ca.pem");
    if (with_certificate) {
      ssl.pem_cert_chain = files_.Read("client.pem");
      ssl.pem_private_key = files_.Read("client.key");
    }
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("localhost");
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = inference::GRPCInferenceService::NewStub(grpc::CreateCustomChannel(
        front_->target(), grpc::SslCredentials(ssl), arguments));
    return Infer(SimpleRequest());
  }

  const TestCertificates files_{"credentials_test"};
  GrpcOptions options_;
};

TEST_F(CredentialsTest, TlsIsServedAndPlaintextRefused) {
  Start(options_);
  EXPECT_TRUE(InferOverTls(false).ok());
  stub_ = inference::GRPCInferenceService::NewStub(NewChannel());
  EXPECT_EQ(Infer(SimpleRequest()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(CredentialsTest, MutualTlsNeedsTheClientsCertificate) {
  options_.tls.mutual = true;
  Start(options_);
  EXPECT_EQ(InferOverTls(false).error_code(), grpc::StatusCode::UNAVAILABLE);
  const grpc::Status status = InferOverTls(true);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(CredentialsTest, MutualAloneIsTls) {
  options_.tls.enabled = false;
  options_.tls.mutual = true;
  Start(options_);
  EXPECT_TRUE(InferOverTls(true).ok());
  stub_ = inference::GRPCInferenceService::NewStub(NewChannel());
  EXPECT_EQ(Infer(SimpleRequest()).error_code(), grpc::StatusCode::UNAVAILABLE);
}

// With another authority, the old certificates are worth nothing to the new
// files, nor the new ones to a server that still has the old files.
TEST_F(CredentialsTest, RenewedFilesAreUsedForNewConnections) {
  options_.tls.mutual = true;
  Start(options_);
  ASSERT_TRUE(InferOverTls(true).ok());
  auto old_connection = std::move(stub_);
  files_.MakeAuthority();
  files_.Issue("client");
  EXPECT_FALSE(InferOverTls(true).ok());  // the server's is not renewed yet
  files_.Issue("server");
  ::testing::internal::CaptureStderr();
  const grpc::Status status = InferOverTls(true);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("certificate reloaded"));
  EXPECT_TRUE(status.ok()) << status.error_message();
  stub_ = std::move(old_connection);
  EXPECT_TRUE(Infer(SimpleRequest()).ok());  // it goes on
}

TEST_F(CredentialsTest, ACertificateWithoutItsKeyIsNotTaken) {
  Start(options_);
  files_.Issue("other");
  const std::string old_certificate = files_.Read("server.pem");
  files_.Write("server.pem", files_.Read("other.pem"));
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(InferOverTls(false).ok());
  EXPECT_TRUE(InferOverTls(false).ok());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("certificate not reloaded, the old one serves: "
                             "--grpc-server-key does not go with"));
  EXPECT_EQ(log.find("certificate not reloaded"),
            log.rfind("certificate not reloaded"));  // said once
  files_.Write("server.key", files_.Read("other.key"));
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(InferOverTls(false).ok());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("certificate reloaded"));
}

TEST_F(CredentialsTest, FilesAreNotLookedAtBeforeTheirTime) {
  options_.tls.refresh = absl::Hours(1);
  Start(options_);
  files_.Write("server.pem", "nothing");
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(InferOverTls(false).ok());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              Not(HasSubstr("certificate")));
}

TEST_F(CredentialsTest, FilesThatDoNotServeAreRefusedAtTheStart) {
  options_.tls.certificate = std::string("/no/such/cert");
  EXPECT_THAT(MakeCredentials(options_.tls, RealClock::Get()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cannot read '/no/such/cert'")));
}

}  // namespace
}  // namespace reprise::testing
