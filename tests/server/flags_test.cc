#include "server/flags.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<CommandLine> Parse(std::vector<std::string> args,
                                  bool with_repository = true) {
  if (with_repository) {
    args.push_back(absl::StrCat("--model-repository=", ::testing::TempDir()));
  }
  std::vector<const char*> pointers;
  for (const std::string& arg : args) pointers.push_back(arg.c_str());
  return ParseCommandLine(pointers);
}

TEST(FlagsTest, ValuesComeWithAnEqualsSignOrAsTheNextWord) {
  const auto line =
      Parse({"--grpc-port=9000", "--metrics-port", "9001", "--exit_on_error",
             "--strict-readiness", "false", "--lame-duck-secs=0.5"});
  ASSERT_THAT(line, IsOk());
  EXPECT_EQ(line->options.grpc.port, 9000);
  EXPECT_EQ(line->options.metrics.port, 9001);
  EXPECT_TRUE(line->options.exit_on_error);
  EXPECT_FALSE(line->options.models.strict_readiness);
  EXPECT_EQ(line->options.lame_duck, absl::Milliseconds(500));
}

TEST(FlagsTest, ACommandLineOfTritonsIsUnderstood) {
  const auto line = Parse(
      {absl::StrCat("--model-store=", ::testing::TempDir()),
       "--strict-model-config=true", "--allow-http", "false", "--http-port",
       "8000", "--allow-gpu-metrics", "--backend-config=onnx,x=1",
       "--backend-config=onnx,y=2", "--allow-grpc=true",
       "--pinned-memory-pool-byte-size=0", "--id=triton",
       "--grpc-infer-thread-count=2", "--log-format=ISO8601"},
      false);
  ASSERT_THAT(line, IsOk());
  EXPECT_THAT(line->options.models.repositories,
              ElementsAre(::testing::TempDir()));
  EXPECT_TRUE(line->options.models.strict_config);
  EXPECT_EQ(line->options.grpc.threads, 2);
  EXPECT_EQ(line->options.log.format, LogFormat::kText);
  EXPECT_THAT(line->ignored,
              ElementsAre("--allow-http", "--http-port", "--allow-gpu-metrics",
                          "--backend-config", "--allow-grpc",
                          "--pinned-memory-pool-byte-size", "--id"));
}

TEST(FlagsTest, WhatTritonWouldProtectIsRefusedByName) {
  EXPECT_THAT(
      Parse({"--grpc-restricted-protocol=health:key=value",
             "--allow-grpc=false", "--allow-sagemaker", "--http-port"}),
      StatusIs(kInvalid,
               AllOf(HasSubstr("--grpc-restricted-protocol=health:key=value: "),
                     HasSubstr("--allow-grpc=false: gRPC is the only way in"),
                     HasSubstr("--allow-sagemaker=true: "))));
  EXPECT_THAT(Parse({"--http-port"}, false),
              StatusIs(kInvalid, HasSubstr("--http-port needs a value")));
}

TEST(FlagsTest, TheWatchdogMayBeNever) {
  EXPECT_EQ(Parse({})->options.watchdog, absl::Seconds(1));
  EXPECT_EQ(Parse({"--watchdog-ms=250"})->options.watchdog,
            absl::Milliseconds(250));
  EXPECT_EQ(Parse({"--watchdog-ms=0"})->options.watchdog,
            absl::InfiniteDuration());
}

TEST(FlagsTest, HowModelsAreLoadedOntoAGpu) {
  const ServerOptions defaults = Parse({})->options;
  EXPECT_TRUE(defaults.strict_graphs);
  EXPECT_EQ(defaults.verify, VerifyChoice::kNone);
  EXPECT_EQ(defaults.load_step, absl::Milliseconds(5));
  EXPECT_EQ(defaults.load_share_percent, 20);
  const ServerOptions options =
      Parse({"--strict-graphs=false", "--verify=cpu", "--load-step-ms=2.5",
             "--load-share-percent=100"})
          ->options;
  EXPECT_EQ(options.load_share_percent, 100);
  EXPECT_FALSE(options.strict_graphs);
  EXPECT_EQ(options.verify, VerifyChoice::kCpu);
  EXPECT_EQ(options.load_step, absl::Microseconds(2500));
  EXPECT_THAT(Parse({"--verify=gpu"}),
              StatusIs(kInvalid, HasSubstr("expected none|cpu")));
  EXPECT_THAT(Parse({"--load-share-percent=0"}),
              StatusIs(kInvalid, HasSubstr("must be in 1..100")));
}

TEST(FlagsTest, RepeatedFlagsAddUp) {
  const auto line = Parse(
      {"--model-control-mode=explicit", "--load-model=a", "--load-model=b"});
  ASSERT_THAT(line, IsOk());
  EXPECT_THAT(line->options.models.load_models, ElementsAre("a", "b"));
}

TEST(FlagsTest, EveryFaultIsALine) {
  const auto line =
      Parse({"--grpc-prot=1", "--metrics-port=x", "word", "--device=tpu",
             "--allow-http", "--grpc-infer-thread-count=0"},
            false);
  ASSERT_THAT(line, StatusIs(kInvalid));
  const std::vector<std::string> lines =
      absl::StrSplit(line.status().message(), '\n');
  EXPECT_THAT(lines,
              ElementsAre("unknown flag --grpc-prot; did you mean --grpc-port?",
                          "unexpected argument 'word'; flags begin with --",
                          "--allow-http=true: inference is served over gRPC "
                          "only",
                          "--metrics-port=x: expected a whole number",
                          "--device=tpu: expected auto|cpu|cuda",
                          "--grpc-infer-thread-count must be in 1..1024, got "
                          "0"));
}

TEST(FlagsTest, ANumberThatNoTypeHoldsIsOneFault) {
  EXPECT_THAT(Parse({"--grpc-port=99999999999"}),
              StatusIs(kInvalid, "--grpc-port=99999999999: is out of range"));
  EXPECT_THAT(Parse({"--grpc-port=-99999999999"}),
              StatusIs(kInvalid, "--grpc-port=-99999999999: is out of range"));
}

TEST(FlagsTest, WhatWasNotUnderstoodIsNotMissing) {
  EXPECT_THAT(Parse({"--model-repositry=/models"}, false),
              StatusIs(kInvalid,
                       "unknown flag --model-repositry; did you mean "
                       "--model-repository?"));
  EXPECT_THAT(Parse({"--config=/no/such"}, false),
              StatusIs(kInvalid,
                       "--config: cannot read '/no/such': No such file or "
                       "directory"));
  EXPECT_THAT(Parse({"--grpc-infer-thread-count=0"}, false),
              StatusIs(kInvalid, HasSubstr("nothing to serve")));
}

TEST(FlagsTest, AFlagAtTheEndNeedsItsValue) {
  std::vector<const char*> args = {"--grpc-port"};
  EXPECT_THAT(ParseCommandLine(args),
              StatusIs(kInvalid, HasSubstr("--grpc-port needs a value")));
}

TEST(FlagsTest, TheCommandLineOverridesTheFile) {
  const std::string path = ::testing::TempDir() + "flags_test.conf";
  std::ofstream(path) << "grpc-port: 1\nmetrics-port: 2\nload-model: a\n"
                         "model-control-mode: explicit\n";
  const auto line = Parse(
      {"--grpc-port=3", absl::StrCat("--config=", path), "--load-model=b"});
  ASSERT_THAT(line, IsOk());
  EXPECT_EQ(line->options.grpc.port, 3);
  EXPECT_EQ(line->options.metrics.port, 2);
  EXPECT_THAT(line->options.models.load_models, ElementsAre("b"));
  std::ofstream(path) << "model_store: /a\nhttp-port: 8000\n";
  EXPECT_THAT(Parse({absl::StrCat("--config=", path)})->ignored,
              ElementsAre("--http-port"));
  std::ofstream(path) << "nonsense-flag: 1\n";
  EXPECT_THAT(Parse({absl::StrCat("--config=", path)}),
              StatusIs(kInvalid, HasSubstr("unknown flag --nonsense-flag")));
  EXPECT_THAT(Parse({"--config=/no/such"}),
              StatusIs(kInvalid, HasSubstr("cannot read '/no/such'")));
}

TEST(FlagsTest, FaultsOfTheFileNameIt) {
  const std::string path = ::testing::TempDir() + "flags_test_bad.conf";
  std::ofstream(path) << "grpc_port: x1\nmetrics-port: 70000\nfoo: 3\n"
                         "allow-http: true\n";
  EXPECT_THAT(
      Parse({absl::StrCat("--config=", path), "--grpc-infer-thread-count=0"}),
      StatusIs(
          kInvalid,
          AllOf(HasSubstr(absl::StrCat(path, ": --grpc-port=x1: expected")),
                HasSubstr(absl::StrCat(path, ": --metrics-port must be")),
                HasSubstr(absl::StrCat(path, ": unknown flag --foo")),
                HasSubstr(absl::StrCat(path, ": --allow-http=true: ")),
                HasSubstr("\n--grpc-infer-thread-count must"))));
  EXPECT_THAT(Parse({absl::StrCat("--config=", path), "--metrics-port=70001"}),
              StatusIs(kInvalid, HasSubstr("\n--metrics-port must")));
}

TEST(FlagsTest, AnEmptyConfigIsAFault) {
  EXPECT_THAT(Parse({"--config="}),
              StatusIs(kInvalid, "--config needs a file"));
}

TEST(FlagsTest, AFlagTakesTheNextWordUnlessItIsASwitch) {
  EXPECT_TRUE(TakesNext("--grpc-port", "1"));
  EXPECT_TRUE(TakesNext("--config", "file"));
  EXPECT_TRUE(TakesNext("--http_port", "1"));
  EXPECT_FALSE(TakesNext("--grpc-port=1", "2"));
  EXPECT_FALSE(TakesNext("--exit_on_error", "repository"));
  EXPECT_TRUE(TakesNext("--exit-on-error", "false"));
  EXPECT_FALSE(TakesNext("--strict-model-config", "repository"));
  EXPECT_FALSE(TakesNext("--nope", "repository"));
  EXPECT_FALSE(TakesNext("word", "repository"));
}

TEST(FlagsTest, HelpAndVersionNeedNothingElse) {
  EXPECT_EQ(Parse({"--help"}, false)->command, Command::kHelp);
  EXPECT_EQ(Parse({"--version"}, false)->command, Command::kVersion);
}

TEST(FlagsTest, HelpExplainsEveryFlagInLinesThatFit) {
  const std::string help = HelpText();
  for (const auto& [flag, value] : Effective(ServerOptions())) {
    EXPECT_THAT(help, HasSubstr(absl::StrCat("\n  ", flag)));
  }
  EXPECT_THAT(
      help,
      AllOf(HasSubstr("--grpc-port=PORT  [8001]"), HasSubstr("--config=FILE"),
            HasSubstr("--model-store"), HasSubstr(" --allow-http=false"),
            HasSubstr(" --allow-grpc=false"), HasSubstr(" --http-port"),
            HasSubstr("reprised check"), HasSubstr("reprised health")));
  for (const absl::string_view line : absl::StrSplit(help, '\n')) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(FlagsTest, EffectiveShowsWhatWasSaid) {
  const auto line = Parse({"--grpc-port=9000"});
  ASSERT_THAT(line, IsOk());
  EXPECT_THAT(Effective(line->options), Contains(Pair("--grpc-port", "9000")));
}

}  // namespace
}  // namespace reprise::testing
