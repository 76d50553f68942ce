#include "server/options.h"

#include <climits>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ServerOptions Good() {
  ServerOptions options;
  options.models.repositories = {::testing::TempDir()};
  return options;
}

TEST(OptionsTest, DefaultsWithARepositoryAreGood) {
  EXPECT_THAT(Validate(Good()), IsEmpty());
}

TEST(OptionsTest, EveryFaultIsListedAtOnce) {
  ServerOptions options = Good();
  options.models.repositories = {"/no/such/dir"};
  options.models.load_models = {"a"};
  options.grpc.port = 70000;
  options.grpc.threads = 0;
  options.models.max_queue_bytes = 0;
  const std::vector<std::string> faults = Validate(options);
  EXPECT_THAT(faults, SizeIs(5));
  EXPECT_THAT(faults, Contains(HasSubstr("'/no/such/dir' is not a directory")));
  EXPECT_THAT(faults, Contains(HasSubstr("--model-control-mode=explicit")));
  EXPECT_THAT(faults, Contains(HasSubstr("0..65535, got 70000")));
  EXPECT_THAT(faults, Contains("--grpc-infer-thread-count must be in 1..1024, "
                               "got 0"));
}

TEST(OptionsTest, MutualTlsIsTlsAndNeedsAllFiles) {
  ServerOptions options = Good();
  options.grpc.tls.mutual = true;
  EXPECT_THAT(Validate(options),
              ElementsAre("--grpc-use-ssl-mutual needs --grpc-server-cert",
                          "--grpc-use-ssl-mutual needs --grpc-server-key",
                          "--grpc-use-ssl-mutual needs --grpc-root-cert"));
  options.grpc.tls.certificate = std::string("file");
  options.grpc.tls.key = options.grpc.tls.root = options.grpc.tls.certificate;
  EXPECT_THAT(Validate(options), IsEmpty());
  options.grpc.tls = {};
  options.grpc.tls.enabled = true;
  options.grpc.tls.certificate = std::string("file");
  EXPECT_THAT(Validate(options),
              ElementsAre("--grpc-use-ssl needs --grpc-server-key"));
}

TEST(OptionsTest, FilesOfTlsWithoutTlsAreDoubtful) {
  ServerOptions options = Good();
  EXPECT_THAT(Doubts(options), IsEmpty());
  options.grpc.tls.certificate = std::string("file");
  options.grpc.tls.root = std::string("file");
  EXPECT_THAT(Validate(options), IsEmpty());
  EXPECT_THAT(Doubts(options),
              ElementsAre("gRPC is not encrypted: --grpc-server-cert, "
                          "--grpc-root-cert without --grpc-use-ssl"));
  options.grpc.tls.enabled = true;
  EXPECT_THAT(Doubts(options), IsEmpty());
}

TEST(OptionsTest, ThereMustBeSomethingToServe) {
  ServerOptions options;
  EXPECT_THAT(Validate(options), Contains(HasSubstr("nothing to serve")));
  options.models.model_path = ::testing::TempDir();
  EXPECT_THAT(Validate(options),
              Contains("--model-name and --model-path go together"));
  options.models.model_name = std::string("m");
  EXPECT_THAT(Validate(options), IsEmpty());
  options.models.repositories = {::testing::TempDir()};
  EXPECT_THAT(Validate(options), Contains(HasSubstr("exclude each other")));
}

TEST(OptionsTest, OnePortCannotServeBoth) {
  ServerOptions options = Good();
  options.metrics.port = options.grpc.port;
  EXPECT_THAT(Validate(options), Contains(HasSubstr("are both 8001")));
  options.metrics.enabled = false;
  EXPECT_THAT(Validate(options), IsEmpty());
}

TEST(OptionsTest, MessagesAreBoundedByGrpcAndByTheirMemory) {
  ServerOptions options = Good();
  options.grpc.max_message_bytes = INT_MAX;
  EXPECT_THAT(Validate(options), IsEmpty());
  options.grpc.max_message_bytes = 99'999'999'999;
  EXPECT_THAT(Validate(options),
              ElementsAre("--grpc-max-message-bytes must be at most 2147483647,"
                          " which is gRPC's limit, got 99999999999"));
  options.grpc.max_message_bytes = 2048;
  options.grpc.memory_bytes = 1024;
  EXPECT_THAT(Validate(options),
              ElementsAre("--grpc-memory-bytes must be at least "
                          "--grpc-max-message-bytes, which is 2048, got 1024"));
}

TEST(OptionsTest, ValuesAreJudgedWithoutTheOthers) {
  ServerOptions options;  // nothing to serve
  options.models.load_models = {"a"};
  options.metrics.port = options.grpc.port;
  options.grpc.tls.enabled = true;
  EXPECT_THAT(ValidateValues(options), IsEmpty());
  options.grpc.threads = 0;
  EXPECT_THAT(
      ValidateValues(options),
      ElementsAre("--grpc-infer-thread-count must be in 1..1024, got 0"));
}

TEST(OptionsTest, ASocketsPathHasALimit) {
  ServerOptions options = Good();
  options.grpc.address = absl::StrCat("unix:/", std::string(120, 'x'));
  EXPECT_THAT(Validate(options), Contains(HasSubstr("at most 107 bytes")));
}

TEST(OptionsTest, ASocketNeedsAPath) {
  ServerOptions options = Good();
  for (const char* address : {"unix:", "unix://"}) {
    options.grpc.address = address;
    EXPECT_THAT(Validate(options),
                ElementsAre(absl::StrCat("--grpc-address=", address,
                                         " has no path; say unix:/path")));
  }
}

TEST(OptionsTest, PagesAreServedOnIpv4Only) {
  ServerOptions options = Good();
  for (const char* address :
       {"::", "::1", "[::1]", "unix:/x", "127.0.0.1:80"}) {
    options.metrics.address = address;
    EXPECT_THAT(Validate(options),
                ElementsAre(AllOf(HasSubstr("--metrics-address must be a host"),
                                  HasSubstr(absl::StrCat("'", address, "'")))));
  }
  options.metrics.enabled = false;
  EXPECT_THAT(Validate(options), IsEmpty());
}

TEST(OptionsTest, NumbersHaveRanges) {
  ServerOptions options = Good();
  options.grpc.posted_calls = 65536;
  options.cpu_threads = 1024;
  options.grpc.keepalive.time = absl::Milliseconds(1);
  options.grpc.keepalive.max_ping_strikes = 0;
  EXPECT_THAT(Validate(options), IsEmpty());
  options.grpc.posted_calls = 2'000'000;
  options.cpu_threads = 3000;
  options.log.verbose_level = -1;
  options.grpc.keepalive.time = absl::ZeroDuration();
  options.grpc.keepalive.max_ping_strikes = -1;
  options.grpc.keepalive.max_pings_without_data = -7;
  EXPECT_THAT(
      Validate(options),
      ElementsAre(
          "--grpc-infer-posted-calls must be in 1..65536, got 2000000",
          "--grpc-http2-max-pings-without-data must be in 0..2147483647, got "
          "-7",
          "--grpc-http2-max-ping-strikes must be in 0..2147483647, got -1",
          "--grpc-keepalive-time must be at least 1, got 0",
          "--cpu-threads must be in 0..1024, got 3000",
          "--log-verbose must be in 0..2147483647, got -1"));
}

}  // namespace
}  // namespace reprise::testing
