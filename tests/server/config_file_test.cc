#include "server/config_file.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(ConfigFileTest, LinesAreFlagsAndValues) {
  EXPECT_THAT(ParseConfig("# a comment\n"
                          "grpc-port: 9000  # the port\n"
                          "\n"
                          "--model_repository: \"/a b\"\n"
                          "grpc-address: unix:/tmp/s\n"),
              IsOkAndHolds(ElementsAre(Pair("grpc-port", "9000"),
                                       Pair("model-repository", "/a b"),
                                       Pair("grpc-address", "unix:/tmp/s"))));
}

TEST(ConfigFileTest, JsonMayHoldLists) {
  EXPECT_THAT(ParseConfig(R"({"grpc-port": 9000, "allow_metrics": false,
                      "load-model": ["a", "b"]})"),
              IsOkAndHolds(UnorderedElementsAre(
                  Pair("grpc-port", "9000"), Pair("allow-metrics", "false"),
                  Pair("load-model", "a"), Pair("load-model", "b"))));
}

TEST(ConfigFileTest, EveryBadLineIsNamed) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(
      ParseConfig("a: 1\nnonsense\n: 2\n"),
      StatusIs(kInvalid, AllOf(HasSubstr("line 2"), HasSubstr("line 3"))));
  EXPECT_THAT(ParseConfig("{bad"), StatusIs(kInvalid));
  EXPECT_THAT(ParseConfig(R"({"a": {"b": 1}})"),
              StatusIs(kInvalid, HasSubstr("a: expected")));
}

TEST(ConfigFileTest, AMissingFileIsNotFound) {
  EXPECT_THAT(
      ReadConfigFile("/no/such/file"),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("'/no/such/file'")));
  EXPECT_THAT(
      ReadConfigFile(::testing::TempDir()),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("Is a directory")));
  const std::string path = ::testing::TempDir() + "config_file_test.conf";
  std::ofstream(path) << "";
  EXPECT_THAT(ReadConfigFile(path), IsOkAndHolds(IsEmpty()));
  std::ofstream(path) << "grpc-port: 1\n";
  EXPECT_THAT(ReadConfigFile(path),
              IsOkAndHolds(ElementsAre(Pair("grpc-port", "1"))));
}

TEST(ConfigFileTest, EveryBadLineNamesItsFile) {
  const std::string path = ::testing::TempDir() + "config_file_test.conf";
  std::ofstream(path) << "nonsense\ngrpc-port: 1\nmore\n";
  EXPECT_THAT(ReadConfigFile(path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(path, ": line 1: expected 'flag: value'\n",
                                    path, ": line 3: expected 'flag: value'")));
}

TEST(ConfigFileTest, OneFileCannotNameAnother) {
  const std::string path = ::testing::TempDir() + "config_file_test.conf";
  std::ofstream(path) << "grpc-port: 1\nconfig: other.conf\n";
  EXPECT_THAT(ReadConfigFile(path),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a configuration file cannot name another")));
}

}  // namespace
}  // namespace reprise::testing
