#include "server/grpc/health_state.h"

#include "gtest/gtest.h"
#include "tests/server/fake_model_manager.h"

namespace reprise::testing {
namespace {

class HealthStateTest : public ::testing::Test {
 protected:
  HealthStateTest() {
    registry_.Publish(MakeModel("simple", SimpleSignature()));
  }

  ModelRegistry registry_;
  FakeModelManager manager_{registry_, RealClock::Get()};
  HealthState state_{registry_, manager_};
};

TEST_F(HealthStateTest, TheProcessServesWhateverItsModelsDo) {
  manager_.SetReady(false);
  EXPECT_EQ(state_.Of(""), Serving::kServing);
  EXPECT_EQ(state_.Of("liveness"), Serving::kServing);
  EXPECT_EQ(state_.Of("readiness"), Serving::kNotServing);
  EXPECT_EQ(state_.Of("inference.GRPCInferenceService"), Serving::kNotServing);
  manager_.SetReady(true);
  EXPECT_EQ(state_.Of("readiness"), Serving::kServing);
}

TEST_F(HealthStateTest, AModelsServiceFollowsTheModel) {
  EXPECT_EQ(state_.Of("simple"), Serving::kServing);
  registry_.SetState("simple", 1, VersionState::kUnloading, "");
  registry_.SetState("simple", 1, VersionState::kUnavailable, "unloaded");
  EXPECT_EQ(state_.Of("simple"), Serving::kNotServing);
  EXPECT_EQ(state_.Of("nope"), Serving::kUnknownService);
  registry_.Expect("nope");  // its turn to load has not come yet
  EXPECT_EQ(state_.Of("nope"), Serving::kNotServing);
}

TEST_F(HealthStateTest, EveryServiceIsKnown) {
  registry_.SetState("gone", 1, VersionState::kUnavailable, "unloaded");
  for (const std::string& service : state_.Services()) {
    EXPECT_NE(state_.Of(service), Serving::kUnknownService) << service;
  }
  EXPECT_EQ(state_.Services().count("simple"), 1u);
  EXPECT_EQ(state_.Services().count("gone"), 1u);
  EXPECT_EQ(state_.Services().count(""), 1u);
}

TEST_F(HealthStateTest, TheServerIsNotReadyWhileDrainingItsModelsAre) {
  state_.StartDraining();
  EXPECT_EQ(state_.Of("liveness"), Serving::kServing);
  EXPECT_EQ(state_.Of("readiness"), Serving::kNotServing);
  EXPECT_EQ(state_.Of("simple"), Serving::kServing);
  EXPECT_FALSE(state_.Ready());
}

}  // namespace
}  // namespace reprise::testing
