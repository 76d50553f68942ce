#include "client/cli/server_target.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOkAndHolds;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;

TEST(ServerTargetTest, APortStays) {
  for (const char* text :
       {"localhost:9001", "127.0.0.1:1", "[::1]:65535", "[fe80::1%eth0]:80",
        "dns:localhost:9001", "dns:///localhost:9001",
        "dns://8.8.8.8:53/far.example:9001"}) {
    EXPECT_THAT(ServerTarget(text), IsOkAndHolds(std::string(text)));
  }
}

TEST(ServerTargetTest, WithoutAPortItIs8001) {
  EXPECT_THAT(ServerTarget("localhost"), IsOkAndHolds("localhost:8001"));
  EXPECT_THAT(ServerTarget("10.0.0.7"), IsOkAndHolds("10.0.0.7:8001"));
  EXPECT_THAT(ServerTarget("[::1]"), IsOkAndHolds("[::1]:8001"));
  EXPECT_THAT(ServerTarget("fe80::1"), IsOkAndHolds("[fe80::1]:8001"));
  EXPECT_THAT(ServerTarget("dns:///far"), IsOkAndHolds("dns:///far:8001"));
}

TEST(ServerTargetTest, OtherResolversAreLeftAlone) {
  for (const char* text :
       {"unix:/run/reprise.sock", "unix:///run/reprise.sock",
        "unix-abstract:reprise", "ipv4:1.2.3.4:80,1.2.3.5:80"}) {
    EXPECT_THAT(ServerTarget(text), IsOkAndHolds(std::string(text)));
  }
}

TEST(ServerTargetTest, RefusesWhatIsNoPort) {
  EXPECT_THAT(ServerTarget("localhost:99999"),
              StatusIs(kInvalid,
                       "server \"localhost:99999\": \"99999\" is no port from "
                       "1 to 65535"));
  for (const char* text :
       {"localhost:0", "localhost:", "localhost:http", "localhost:-1",
        "localhost:+80", "localhost:8001/", "[::1]:0", "dns:///far:70000"}) {
    EXPECT_THAT(ServerTarget(text), StatusIs(kInvalid)) << text;
  }
}

TEST(ServerTargetTest, RefusesWhatNamesNoHost) {
  for (const char* text : {"", ":8001", "dns:", "http://localhost:8001"}) {
    EXPECT_THAT(ServerTarget(text), StatusIs(kInvalid)) << text;
  }
}

}  // namespace
}  // namespace reprise::client
