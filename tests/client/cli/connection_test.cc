#include "client/cli/connection.h"

#include <sstream>

#include "client/files.h"
#include "tests/client/cli/run_cli.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class ConnectionTest : public ::testing::Test {
 protected:
  absl::StatusOr<ClientOptions> Parse(const std::vector<std::string>& arguments,
                                      const std::string& server_variable = "") {
    std::ostringstream out;
    const Terminal terminal{out,
                            out,
                            false,
                            [&](const std::string& name) {
                              return name == "REPRISE_SERVER" ? server_variable
                                                              : "";
                            },
                            {}};
    FlagTable flags;
    connection_.AddFlags(flags, terminal);
    const auto rest = flags.Parse(arguments);
    if (!rest.ok()) return rest.status();
    return connection_.Options();
  }

  Connection connection_;
};

TEST_F(ConnectionTest, TheServerIsLocalUnlessSaid) {
  EXPECT_EQ(Parse({})->channel.target, "localhost:8001");
}

TEST_F(ConnectionTest, TheEnvironmentNamesTheServer) {
  EXPECT_EQ(Parse({}, "far:9")->channel.target, "far:9");
}

TEST_F(ConnectionTest, TheFlagWinsOverTheEnvironment) {
  EXPECT_EQ(Parse({"--server", "near:1"}, "far:9")->channel.target, "near:1");
}

TEST_F(ConnectionTest, APortMayBeLeftOutButNotBeWrong) {
  EXPECT_EQ(Parse({"--server", "far"})->channel.target, "far:8001");
  EXPECT_EQ(connection_.server(), "far:8001");
  EXPECT_THAT(Parse({"--server", "far:99999"}),
              StatusIs(kInvalid, HasSubstr("\"far:99999\"")));
  EXPECT_EQ(connection_.server(), "far:99999");
}

TEST_F(ConnectionTest, ATimeoutOfZeroIsRefused) {
  EXPECT_THAT(Parse({"--timeout", "0"}),
              StatusIs(kInvalid, HasSubstr("--timeout: \"0\" is not")));
}

TEST_F(ConnectionTest, FlagsBecomeOptions) {
  const auto options = Parse({"--timeout", "2s", "--retries", "4", "--header",
                              "X-Key: a:b", "--tls-ca", "ca.pem", "--json"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(options->timeout, absl::Seconds(2));
  EXPECT_EQ(options->retry.max_attempts, 5);
  EXPECT_EQ(options->infer_attempts, 5);
  EXPECT_THAT(options->headers, ElementsAre(Pair("x-key", "a:b")));
  EXPECT_EQ(options->channel.ca_file, "ca.pem");
  EXPECT_TRUE(connection_.json());
}

TEST_F(ConnectionTest, AHeaderNeedsAColon) {
  EXPECT_THAT(Parse({"--header", "oops"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--header: \"oops\" is not NAME:VALUE"));
}

TEST_F(ConnectionTest, AHeaderThatCannotBeSentIsRefused) {
  for (const char* bad : {"a b:c", "x:\x01", "\xC3\xA9:x", "x:\xC3\xA9"}) {
    ASSERT_THAT(Parse({"--header", bad}), IsOk()) << bad;
    EXPECT_THAT(connection_.Connect(), StatusIs(kInvalid, HasSubstr("header")))
        << bad;
    connection_ = Connection();
  }
  ASSERT_THAT(Parse({"--header", "X-Key: a b", "--header", "x-bin:\x01",
                     "--header", "empty:"}),
              IsOk());
  EXPECT_THAT(connection_.Connect(), IsOk());
}

TEST_F(ConnectionTest, ACertificateNeedsItsKey) {
  const char* const kWhy = "--tls-cert and --tls-key must be given together";
  EXPECT_THAT(Parse({"--tls-cert", "c.pem"}), StatusIs(kInvalid, kWhy));
  connection_ = Connection();
  EXPECT_THAT(Parse({"--tls-key", "c.key"}), StatusIs(kInvalid, kWhy));
}

TEST_F(ConnectionTest, AFileThatHoldsNoCertificateIsTold) {
  const std::string path = testing::TempPath("ca.pem");
  ASSERT_THAT(WriteFile(path, "no certificate"), IsOk());
  ASSERT_THAT(Parse({"--tls-ca", path}), IsOk());
  EXPECT_THAT(connection_.Connect(),
              StatusIs(kInvalid, path + " holds no PEM certificate"));
}

TEST_F(ConnectionTest, AMissingFileIsTold) {
  ASSERT_THAT(Parse({"--tls-ca", "/no/such.pem"}), IsOk());
  EXPECT_THAT(connection_.Connect(), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace reprise::client
