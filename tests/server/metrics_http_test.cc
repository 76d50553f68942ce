#include "server/metrics_http.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "prometheus/counter.h"
#include "prometheus/registry.h"
#include "runtime/base/clock.h"
#include "runtime/base/file_descriptor.h"
#include "runtime/worker/model_manager_metrics.h"
#include "runtime/worker/worker_metrics.h"
#include "server/grpc/infer_metrics.h"
#include "tests/server/fake_model_manager.h"
#include "tests/server/http_ask.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

// All that a model version on a device adds to the page.
class ModelSeriesForTest {
 public:
  ModelSeriesForTest(prometheus::Registry& registry, WorkerMetrics& worker)
      : infer_(registry), manager_(registry), worker_(worker) {}

  void Add(const std::string& name, int sizes, bool with_slo) {
    ModelConfig config;
    if (with_slo) config.batch.slo = absl::Milliseconds(42);
    const ModelHandle model = MakeModel(name, SimpleSignature(), config);
    ModelSeries& series = infer_.For(*model);
    for (int code = 0; code <= 16; ++code) {
      series.Count(static_cast<absl::StatusCode>(code), DeadlineOutcome::kMet,
                   absl::Milliseconds(1));
    }
    manager_.SetReady(name, 1, true);
    manager_.SetLoadTime(name, 1, absl::Seconds(1));
    const prometheus::Labels labels = worker_.ModelLabels(name, "1");
    models_.push_back(
        std::make_unique<ModelMetrics>(worker_, labels, config.batch.slo));
    Ladder ladder;
    for (int i = 0; i < sizes; ++i) {
      ladder.push_back({.rows = i + 1,
                        .p50 = absl::Milliseconds(1),
                        .p999 = absl::Milliseconds(2)});
    }
    variants_.push_back(
        std::make_unique<VariantMetrics>(worker_, labels, "", ladder, 1));
  }

 private:
  InferMetrics infer_;
  ModelManagerMetrics manager_;
  WorkerMetrics& worker_;
  std::vector<std::unique_ptr<ModelMetrics>> models_;
  std::vector<std::unique_ptr<VariantMetrics>> variants_;
};

TEST_F(MetricsHttpTest, FiftyModelsAreServedWithinTheirBound) {
  constexpr int kSizes = 8;
  WorkerMetrics worker(registry_, std::nullopt);
  ModelSeriesForTest models(registry_, worker);
  for (int i = 0; i < 50; ++i) {
    models.Add(absl::StrCat("model", i), kSizes, /*with_slo=*/i % 2 == 0);
  }
  const std::string page = Ask(http_->port(), "GET /metrics");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  std::vector<int> lines(50);
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    for (int i = 0; i < 50; ++i) {
      const std::string label = absl::StrCat("model=\"model", i, "\"");
      if (absl::StrContains(line, label)) ++lines[static_cast<size_t>(i)];
    }
  }
  // As the user's documentation has it: 112 + 26 x sizes x variants.
  EXPECT_EQ(lines[0], 112 + 26 * kSizes);
  EXPECT_EQ(lines[49], 110 + 26 * kSizes);
}

// The library looks every two seconds whether it is to end; one that waited for
// that would take ten seconds.
TEST_F(MetricsHttpTest, AnIdleServerEndsAtOnce) {
  const absl::Time begin = RealClock::Get().Now();
  for (const char* address :
       {"127.0.0.1", "0.0.0.0", "localhost", "127.0.0.1", "127.0.0.1"}) {
    MetricsOptions options;
    options.address = address;
    options.port = 0;
    EXPECT_THAT(MetricsHttp::Create(options, {}), IsOk()) << address;
  }
  EXPECT_LT(RealClock::Get().Now() - begin, absl::Seconds(5));
}

TEST_F(MetricsHttpTest, ConnectionsThatNeverAskHoldNoProbeUp) {
  std::vector<FileDescriptor> idle;
  for (int i = 0; i < 8; ++i) idle.emplace_back(Connect(http_->port()));
  EXPECT_THAT(Ask(http_->port(), "GET /livez"), StartsWith("HTTP/1.1 200"));
  for (const FileDescriptor& connection : idle) {  // which had not to end first
    char byte = 0;
    EXPECT_EQ(recv(connection.get(), &byte, 1, MSG_DONTWAIT), -1);
    EXPECT_EQ(errno, EAGAIN);
  }
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
