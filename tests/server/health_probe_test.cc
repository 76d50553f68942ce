#include "server/health_probe.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/base/file_descriptor.h"
#include "tests/server/grpc/front_fixture.h"
#include "tests/server/grpc/test_certificates.h"
#include "tests/testing/fake_clock.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HealthProbeTest : public FrontTest {
 protected:
  int Probe(std::vector<std::string> args,
            const Clock& clock = RealClock::Get()) {
    std::vector<const char*> pointers;
    for (const std::string& arg : args) pointers.push_back(arg.c_str());
    out_.str("");
    err_.str("");
    return ProbeHealth(pointers, clock, out_, err_);
  }

  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(HealthProbeTest, ExitCodesAreThoseOfGrpcHealthProbe) {
  Start();
  EXPECT_EQ(Probe({front_->target()}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("status: SERVING"));
  EXPECT_EQ(Probe({front_->target(), "simple"}), 0);
  EXPECT_EQ(Probe({front_->target(), "nope"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("unknown service 'nope'"));
  manager_.SetReady(false);
  EXPECT_EQ(Probe({front_->target(), "readiness"}), 4);
  EXPECT_EQ(Probe({front_->target(), "", "extra"}), 1);
  EXPECT_EQ(Probe({front_->target(), "\xff"}), 1);
  EXPECT_EQ(Probe({"--rpc-timeout=x"}), 1);
  EXPECT_EQ(Probe({"--nope"}), 1);
}

TEST_F(HealthProbeTest, ItsTimeoutsAreOfTheWallClock) {
  Start();
  FakeClock clock;  // years behind
  EXPECT_EQ(Probe({front_->target()}, clock), 2);
  Clock& real = RealClock::Get();
  clock.SetWallOffset(real.ToWall(real.Now()) - clock.Now());
  EXPECT_EQ(Probe({front_->target(), "--rpc-timeout=60"}, clock), 0);
}

TEST_F(HealthProbeTest, NothingThatListensIsNoConnection) {
  EXPECT_EQ(Probe({"127.0.0.1:1", "--connect-timeout=0.2"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("cannot connect to 127.0.0.1:1"));
  EXPECT_THAT(err_.str(), Not(HasSubstr("TLS")));
}

TEST_F(HealthProbeTest, HelpNamesEveryFlagAndExitsWell) {
  EXPECT_EQ(Probe({"--help"}), 0);
  for (const char* flag :
       {"--connect-timeout=", "--rpc-timeout=", "--tls ",
        "--tls-ca-cert=", "--tls-client-cert=", "--tls-client-key="}) {
    EXPECT_THAT(out_.str(), HasSubstr(flag));
  }
  EXPECT_EQ(err_.str(), "");
}

TEST_F(HealthProbeTest, AServerThatSpeaksTlsIsRecognised) {
  const TestCertificates certificates("health_probe_test");
  if (!certificates.available()) GTEST_SKIP() << "no openssl";
  certificates.MakeAuthority();
  certificates.Issue("server");
  GrpcOptions options;
  options.tls = certificates.Options();
  Start(options);
  EXPECT_EQ(Probe({front_->target(), "--connect-timeout=0.2"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("the server speaks TLS: say --tls"));
  const std::string target = absl::StrCat("localhost:", front_->port());
  EXPECT_EQ(Probe({target, absl::StrCat("--tls-ca-cert=",
                                        certificates.Path("ca.pem"))}),
            0);
  EXPECT_THAT(out_.str(), HasSubstr("status: SERVING"));
}

TEST_F(HealthProbeTest, AServerThatAsksForACertificateIsRecognised) {
  const TestCertificates certificates("health_probe_mutual_test");
  if (!certificates.available()) GTEST_SKIP() << "no openssl";
  certificates.MakeAuthority();
  certificates.Issue("server");
  certificates.Issue("client");
  GrpcOptions options;
  options.tls = certificates.Options();
  options.tls.mutual = true;
  Start(options);
  EXPECT_EQ(Probe({front_->target(), "--connect-timeout=1"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("the server speaks TLS: say --tls"));
  EXPECT_EQ(
      Probe(
          {absl::StrCat("localhost:", front_->port()),
           absl::StrCat("--tls-ca-cert=", certificates.Path("ca.pem")),
           absl::StrCat("--tls-client-cert=", certificates.Path("client.pem")),
           absl::StrCat("--tls-client-key=", certificates.Path("client.key")),
           "--connect-timeout=5"}),
      0);
}

TEST_F(HealthProbeTest, WhoSaysNothingIsNotTakenForTls) {
  const FileDescriptor listener(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(listen(listener.get(), 8), 0);  // on any port
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ASSERT_EQ(
      getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size),
      0);
  EXPECT_EQ(Probe({absl::StrCat("127.0.0.1:", ntohs(address.sin_port)),
                   "--connect-timeout=0.2"}),
            2);
  EXPECT_THAT(err_.str(), HasSubstr("cannot connect"));
  EXPECT_THAT(err_.str(), Not(HasSubstr("TLS")));
}

TEST_F(HealthProbeTest, AFileThatCannotBeReadIsABadArgument) {
  EXPECT_EQ(Probe({"127.0.0.1:1", "--tls-ca-cert=/no/such.pem"}), 1);
  EXPECT_EQ(err_.str(),
            "error: --tls-ca-cert=/no/such.pem: No such file or directory\n");
  EXPECT_EQ(Probe({"--tls-ca-cert="}), 1);
  EXPECT_EQ(Probe({"--tls-ca-cert=/"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("--tls-ca-cert=/: Is a directory"));
  const std::string path = ::testing::TempDir() + "health_probe_test.pem";
  std::ofstream(path) << "";
  EXPECT_EQ(Probe({"--tls-ca-cert=" + path}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("it is empty"));
  std::ofstream(path) << "no certificate";
  EXPECT_EQ(Probe({"--tls-ca-cert=" + path}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("it is not PEM"));
}

TEST_F(HealthProbeTest, AClientsCertificateAndItsKeyGoTogether) {
  for (const char* flag : {"--tls-client-cert=a", "--tls-client-key=a"}) {
    EXPECT_EQ(Probe({flag}), 1);
    EXPECT_EQ(err_.str(),
              "error: --tls-client-cert and --tls-client-key go together\n");
  }
}

}  // namespace
}  // namespace reprise::testing
