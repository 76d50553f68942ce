#include "server/grpc/inference_service.h"

#include "tests/server/fake_model_manager.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

class InferenceServiceTest : public ::testing::Test {
 protected:
  InferenceServiceTest() {
    registry_.Publish(MakeModel("simple", SimpleSignature()));
    registry_.Publish(MakeModel("simple", SimpleSignature(), {}, 10));
    registry_.Publish(
        MakeModel("free", IdentitySignature(DType::kFp32, {kFreeDim}, false)));
  }

  template <typename Request>
  static Request Of(const std::string& name, const std::string& version = "") {
    Request request;
    request.set_name(name);
    request.set_version(version);
    return request;
  }

  absl::StatusOr<bool> Ready(const std::string& name,
                             const std::string& version = "") {
    inference::ModelReadyResponse response;
    const absl::Status status = ModelReady(
        context_, Of<inference::ModelReadyRequest>(name, version), &response);
    if (!status.ok()) return status;
    return response.ready();
  }

  ModelRegistry registry_;
  FakeModelManager manager_{registry_, RealClock::Get()};
  HealthState health_{registry_, manager_};
  FakeClock clock_;
  const ServiceContext context_{registry_, health_, "1.2.3", clock_};
};

TEST_F(InferenceServiceTest, ModelReadyTellsUnknownFromNotReady) {
  EXPECT_THAT(Ready("simple"), IsOkAndHolds(true));
  EXPECT_THAT(Ready("simple", "10"), IsOkAndHolds(true));
  EXPECT_THAT(Ready("simple", "2"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Ready("nope"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Ready("simple", "x"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  registry_.SetState("free", 1, VersionState::kUnloading, "");
  EXPECT_THAT(Ready("free"), IsOkAndHolds(false));
  EXPECT_THAT(Ready("free", "1"), IsOkAndHolds(false));
}

TEST_F(InferenceServiceTest, MetadataShowsTheBatchDimAndAllVersions) {
  inference::ModelMetadataResponse response;
  ASSERT_THAT(
      ModelMetadata(context_, Of<inference::ModelMetadataRequest>("simple"),
                    &response),
      IsOk());
  EXPECT_THAT(response.versions(), ElementsAre("1", "10"));
  EXPECT_EQ(response.platform(), "onnxruntime_onnx");
  ASSERT_EQ(response.inputs_size(), 2);
  EXPECT_EQ(response.inputs(0).name(), "INPUT0");
  EXPECT_EQ(response.inputs(0).datatype(), "INT32");
  EXPECT_THAT(response.inputs(0).shape(), ElementsAre(-1, 16));

  inference::ModelMetadataResponse free;
  ASSERT_THAT(ModelMetadata(context_,
                            Of<inference::ModelMetadataRequest>("free"), &free),
              IsOk());
  EXPECT_THAT(free.outputs(0).shape(), ElementsAre(-1));
}

TEST_F(InferenceServiceTest, OnlyWhatIsImplementedIsAnExtension) {
  inference::ServerMetadataResponse response;
  ASSERT_THAT(ServerMetadata(context_, {}, &response), IsOk());
  EXPECT_EQ(response.name(), "reprise");
  EXPECT_EQ(response.version(), "1.2.3");
  EXPECT_THAT(response.extensions(), Contains("statistics"));
  EXPECT_THAT(response.extensions(), Not(Contains("system_shared_memory")));
}

TEST_F(InferenceServiceTest, ConfigIsTheModels) {
  inference::ModelConfigResponse response;
  ASSERT_THAT(
      GetModelConfig(context_, Of<inference::ModelConfigRequest>("simple"),
                     &response),
      IsOk());
  EXPECT_EQ(response.config().max_batch_size(), 8);
  EXPECT_THAT(
      GetModelConfig(context_, Of<inference::ModelConfigRequest>("nope"),
                     &response),
      StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(InferenceServiceTest, StatisticsAreSortedAndComplete) {
  const ModelHandle model = *registry_.Acquire("simple", "1");
  model->statistics().AddSuccess({.finished = absl::FromUnixSeconds(5),
                                  .rows = 3,
                                  .total = absl::Microseconds(10),
                                  .queue = absl::Microseconds(4),
                                  .compute_input = absl::Microseconds(1),
                                  .compute_infer = absl::Microseconds(3),
                                  .compute_output = absl::Microseconds(2)});
  model->statistics().AddBatch(3, absl::Microseconds(1), absl::Microseconds(3),
                               absl::Microseconds(2));
  inference::ModelStatisticsResponse response;
  ASSERT_THAT(GetModelStatistics(context_, {}, &response), IsOk());
  ASSERT_EQ(response.model_stats_size(), 3);
  EXPECT_EQ(response.model_stats(0).name(), "free");
  EXPECT_EQ(response.model_stats(2).version(), "10");
  const inference::ModelStatistics& stats = response.model_stats(1);
  EXPECT_EQ(stats.last_inference(), 5000u);
  EXPECT_EQ(response.model_stats(0).last_inference(), 0u);
  EXPECT_EQ(stats.inference_count(), 3u);
  EXPECT_EQ(stats.execution_count(), 1u);
  EXPECT_EQ(stats.inference_stats().success().ns(), 10000u);
  EXPECT_EQ(stats.inference_stats().queue().ns(), 4000u);
  ASSERT_EQ(stats.batch_stats_size(), 1);
  EXPECT_EQ(stats.batch_stats(0).batch_size(), 3u);
  EXPECT_EQ(stats.batch_stats(0).compute_infer().ns(), 3000u);
}

TEST_F(InferenceServiceTest, TheLastInferenceIsShownByTheWallClock) {
  ModelStatistics::Success success;
  success.finished = absl::FromUnixSeconds(5);
  (*registry_.Acquire("simple", "1"))->statistics().AddSuccess(success);
  clock_.SetWallOffset(absl::Seconds(60));
  inference::ModelStatisticsResponse response;
  ASSERT_THAT(GetModelStatistics(context_, {}, &response), IsOk());
  EXPECT_EQ(response.model_stats(1).last_inference(), 65'000u);
}

}  // namespace
}  // namespace reprise::testing
