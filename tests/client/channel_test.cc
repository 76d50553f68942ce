#include "client/channel.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::HasSubstr;

TEST(ChannelTest, MakesAsManyChannelsAsAsked) {
  const auto channels = MakeChannels({}, 3);
  ASSERT_THAT(channels, IsOk());
  EXPECT_EQ(channels->size(), 3U);
  EXPECT_NE((*channels)[0], (*channels)[1]);
  EXPECT_THAT(MakeChannels({}, 0), StatusIs(kInvalid));
}

TEST(ChannelTest, RefusesWhatCannotWork) {
  ChannelOptions options;
  options.target = "";
  EXPECT_THAT(MakeCredentials(options), StatusIs(kInvalid));
  options = {};
  options.cert_file = "client.pem";
  EXPECT_THAT(MakeCredentials(options),
              StatusIs(kInvalid, HasSubstr("together")));
  options = {};
  options.ca_file = "/no/such/ca.pem";
  EXPECT_THAT(MakeCredentials(options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("ca.pem")));
  options.ca_file = "/dev/null";
  EXPECT_THAT(
      MakeCredentials(options),
      StatusIs(kInvalid, HasSubstr("/dev/null holds no PEM certificate")));
}

}  // namespace
}  // namespace reprise::client
