#include "server/health_probe.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/server/grpc/front_fixture.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;

class HealthProbeTest : public FrontTest {
 protected:
  int Probe(std::vector<std::string> args) {
    std::vector<const char*> pointers;
    for (const std::string& arg : args) pointers.push_back(arg.c_str());
    out_.str("");
    err_.str("");
    return ProbeHealth(pointers, out_, err_);
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
  EXPECT_EQ(Probe({"--rpc-timeout=x"}), 1);
  EXPECT_EQ(Probe({"--nope"}), 1);
}

TEST_F(HealthProbeTest, NothingThatListensIsNoConnection) {
  EXPECT_EQ(Probe({"127.0.0.1:1", "--connect-timeout=0.2"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("cannot connect to 127.0.0.1:1"));
}

}  // namespace
}  // namespace reprise::testing
