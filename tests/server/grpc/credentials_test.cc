#include "server/grpc/credentials.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/server/grpc/front_fixture.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

// Files of an authority and of what it signed, made by openssl.
class CredentialsTest : public FrontTest {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "credentials_test/";
    ASSERT_EQ(std::system(absl::StrCat("mkdir -p ", folder_).c_str()), 0);
    if (std::system("openssl version >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "openssl is not installed";
    }
    Openssl(
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority "
        "-keyout ca.key -out ca.pem");
    Issue("server");
    Issue("client");
    options_.tls.enabled = true;
    options_.tls.certificate = folder_ + "server.pem";
    options_.tls.key = folder_ + "server.key";
    options_.tls.root = folder_ + "ca.pem";
    options_.tls.refresh = absl::Seconds(1);
  }

  void Openssl(const std::string& command) const {
    ASSERT_EQ(std::system(absl::StrCat("cd ", folder_, " && openssl ", command,
                                       " >/dev/null 2>&1")
                              .c_str()),
              0)
        << command;
  }

  void Issue(const std::string& name) const {
    Openssl(
        absl::StrCat("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout ",
                     name, ".key -out ", name, ".csr"));
    std::ofstream(folder_ + "san") << "subjectAltName=DNS:localhost\n";
    Openssl(absl::StrCat("x509 -req -in ", name,
                         ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days "
                         "2 -extfile san -out ",
                         name, ".pem"));
  }

  grpc::Status InferOverTls(bool with_certificate) {
    grpc::SslCredentialsOptions ssl;
    ssl.pem_root_certs = ReadAll(folder_ + "ca.pem");
    if (with_certificate) {
      ssl.pem_cert_chain = ReadAll(folder_ + "client.pem");
      ssl.pem_private_key = ReadAll(folder_ + "client.key");
    }
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("localhost");
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = inference::GRPCInferenceService::NewStub(grpc::CreateCustomChannel(
        front_->target(), grpc::SslCredentials(ssl), arguments));
    return Infer(SimpleRequest());
  }

  std::string folder_;
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

TEST_F(CredentialsTest, EveryMissingFileIsNamed) {
  TlsOptions tls;
  tls.enabled = true;
  tls.mutual = true;
  tls.certificate = "/no/such/cert";
  EXPECT_THAT(MakeCredentials(tls),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("cannot read '/no/such/cert'"),
                             HasSubstr("--grpc-server-key is needed"),
                             HasSubstr("--grpc-root-cert is needed"))));
}

}  // namespace
}  // namespace reprise::testing
