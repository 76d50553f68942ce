#include "server/grpc/repository_service.h"

#include "tests/server/fake_model_manager.h"
#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RepositoryServiceTest : public ::testing::Test {
 protected:
  ModelRegistry registry_;
  FakeModelManager manager_{registry_, RealClock::Get()};
  inference::RepositoryModelLoadResponse loaded_;
  inference::RepositoryModelUnloadResponse unloaded_;
};

TEST_F(RepositoryServiceTest, TheIndexHasStatesAndReasons) {
  registry_.Publish(MakeModel("a", SimpleSignature(), ModelConfig()));
  registry_.SetState("b", 1, VersionState::kLoading, "");
  registry_.SetState("b", 1, VersionState::kUnavailable, "broken");
  inference::RepositoryIndexResponse all;
  ASSERT_THAT(RepositoryIndex(manager_, {}, &all), IsOk());
  ASSERT_EQ(all.models_size(), 2);
  inference::RepositoryIndexRequest ready;
  ready.set_ready(true);
  inference::RepositoryIndexResponse response;
  ASSERT_THAT(RepositoryIndex(manager_, ready, &response), IsOk());
  ASSERT_EQ(response.models_size(), 1);
  EXPECT_EQ(response.models(0).name(), "a");
  EXPECT_EQ(response.models(0).version(), "1");
  EXPECT_EQ(response.models(0).state(), "READY");
}

TEST_F(RepositoryServiceTest, ARepositoryCannotBeNamed) {
  inference::RepositoryIndexRequest index;
  index.set_repository_name("r");
  inference::RepositoryIndexResponse response;
  EXPECT_THAT(RepositoryIndex(manager_, index, &response),
              StatusIs(absl::StatusCode::kUnimplemented));
  inference::RepositoryModelLoadRequest load;
  load.set_repository_name("r");
  EXPECT_THAT(RepositoryModelLoad(manager_, load, &loaded_),
              StatusIs(absl::StatusCode::kUnimplemented));
}

TEST_F(RepositoryServiceTest, OverridesReachTheManager) {
  inference::RepositoryModelLoadRequest request;
  request.set_model_name("m");
  (*request.mutable_parameters())["config"].set_string_param("{}");
  (*request.mutable_parameters())["file:1/model.onnx"].set_bytes_param("abc");
  ASSERT_THAT(RepositoryModelLoad(manager_, request, &loaded_), IsOk());
  EXPECT_THAT(manager_.calls(), ElementsAre("load m"));
  EXPECT_EQ(manager_.overrides().config_json, "{}");
  EXPECT_EQ(manager_.overrides().files.at("1/model.onnx"), "abc");
}

TEST_F(RepositoryServiceTest, BadParametersAreRefusedByName) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  inference::RepositoryModelLoadRequest request;
  request.set_model_name("m");
  (*request.mutable_parameters())["config"].set_int64_param(1);
  EXPECT_THAT(RepositoryModelLoad(manager_, request, &loaded_),
              StatusIs(kInvalid, HasSubstr("'config'")));
  request.clear_parameters();
  (*request.mutable_parameters())["file:1/x"].set_string_param("x");
  EXPECT_THAT(RepositoryModelLoad(manager_, request, &loaded_),
              StatusIs(kInvalid, HasSubstr("bytes_param")));
  request.clear_parameters();
  (*request.mutable_parameters())["foo"].set_string_param("x");
  EXPECT_THAT(RepositoryModelLoad(manager_, request, &loaded_),
              StatusIs(kInvalid, HasSubstr("unexpected parameter 'foo'")));
  inference::RepositoryModelUnloadRequest unload;
  (*unload.mutable_parameters())["unload_dependents"].set_string_param("true");
  EXPECT_THAT(RepositoryModelUnload(manager_, unload, &unloaded_),
              StatusIs(kInvalid, HasSubstr("bool_param")));
  EXPECT_THAT(manager_.calls(), ElementsAre());
}

TEST_F(RepositoryServiceTest, UnloadReachesTheManagerAndItsRefusalTheCaller) {
  inference::RepositoryModelUnloadRequest unload;
  unload.set_model_name("m");
  manager_.RefuseWith(absl::UnavailableError("not allowed"));
  EXPECT_THAT(RepositoryModelUnload(manager_, unload, &unloaded_),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(manager_.calls(), ElementsAre("unload m"));
}

}  // namespace
}  // namespace reprise::testing
