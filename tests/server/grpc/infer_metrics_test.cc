#include "server/grpc/infer_metrics.h"

#include "gmock/gmock.h"
#include "prometheus/text_serializer.h"
#include "tests/server/fake_model_manager.h"

namespace reprise::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(InferMetricsTest, AReloadGoesOnCountingInTheSameSeries) {
  prometheus::Registry registry;
  InferMetrics metrics(registry);
  const ModelHandle first = MakeModel("m", SimpleSignature());
  const ModelHandle again = MakeModel("m", SimpleSignature());
  EXPECT_NE(first->uid(), again->uid());
  EXPECT_EQ(&metrics.For(*first), &metrics.For(*again));
  EXPECT_NE(&metrics.For(*first), &metrics.unknown());
}

TEST(InferMetricsTest, TheSloIsABucketBound) {
  prometheus::Registry registry;
  InferMetrics metrics(registry);
  ModelConfig config;
  config.batch.slo = absl::Milliseconds(42);
  metrics.For(*MakeModel("m", SimpleSignature(), config))
      .Count(absl::StatusCode::kOk, DeadlineOutcome::kMet,
             absl::Milliseconds(41));
  const std::string text =
      prometheus::TextSerializer().Serialize(registry.Collect());
  EXPECT_THAT(text, HasSubstr("le=\"0.042\"} 1"));
  EXPECT_THAT(text, HasSubstr("code=\"OK\""));
  EXPECT_THAT(text, Not(HasSubstr("code=\"INTERNAL\"")));
}

TEST(InferMetricsTest, BytesAreCountedByMethod) {
  prometheus::Registry registry;
  InferMetrics metrics(registry);
  metrics.AddReceived(10);
  metrics.AddSent(7);
  const std::string text =
      prometheus::TextSerializer().Serialize(registry.Collect());
  EXPECT_THAT(text, HasSubstr("reprise_grpc_received_bytes_total{method="
                              "\"ModelInfer\"} 10"));
  EXPECT_THAT(text,
              HasSubstr("reprise_grpc_sent_bytes_total{method=\"ModelInfer\"} "
                        "7"));
}

}  // namespace
}  // namespace reprise::testing
