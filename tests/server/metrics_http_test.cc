#include "server/metrics_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "prometheus/counter.h"
#include "prometheus/registry.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The whole answer to one request line.
std::string Ask(int port, const std::string& line) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  sockaddr generic;
  static_assert(sizeof(generic) == sizeof(address));
  std::memcpy(&generic, &address, sizeof(address));
  EXPECT_EQ(connect(fd, &generic, sizeof(generic)), 0);
  const std::string request = line + " HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(write(fd, request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

class MetricsHttpTest : public ::testing::Test {
 protected:
  MetricsHttpTest() {
    prometheus::BuildCounter()
        .Name("things_total")
        .Help("Things")
        .Register(registry_)
        .Add({})
        .Increment(3);
    MetricsHttp::Pages pages;
    pages.live = [] { return true; };
    pages.ready = [this] { return ready_.load(); };
    pages.status = [] { return std::string("<p>status</p>"); };
    pages.metrics = {&registry_};
    MetricsOptions options;
    options.port = 0;
    auto http = MetricsHttp::Create(options, std::move(pages));
    EXPECT_THAT(http, IsOk());
    http_ = *std::move(http);
  }

  prometheus::Registry registry_;
  std::atomic<bool> ready_{false};
  std::unique_ptr<MetricsHttp> http_;
};

TEST_F(MetricsHttpTest, MetricsAreInPrometheusTextFormat) {
  EXPECT_THAT(
      Ask(http_->port(), "GET /metrics"),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/plain; version=0.0.4"),
            HasSubstr("# TYPE things_total counter"),
            HasSubstr("things_total 3")));
}

TEST_F(MetricsHttpTest, ProbesTellLiveFromReady) {
  EXPECT_THAT(Ask(http_->port(), "GET /livez"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask(http_->port(), "GET /readyz"), StartsWith("HTTP/1.1 503"));
  ready_ = true;
  EXPECT_THAT(Ask(http_->port(), "GET /readyz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(MetricsHttpTest, OtherPagesAndMethodsAreRefused) {
  EXPECT_THAT(Ask(http_->port(), "GET /"), HasSubstr("<p>status</p>"));
  EXPECT_THAT(Ask(http_->port(), "GET /nope"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask(http_->port(), "DELETE /metrics"),
              StartsWith("HTTP/1.1 405"));
}

TEST_F(MetricsHttpTest, APortInUseIsOneClearLine) {
  MetricsOptions options;
  options.port = http_->port();
  EXPECT_THAT(MetricsHttp::Create(options, {}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("for metrics: Address already in use")));
}

}  // namespace
}  // namespace reprise::testing
