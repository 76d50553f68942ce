#include "runtime/worker/manager_options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/model/temp_dir.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class ManagerOptionsTest : public ::testing::Test {
 protected:
  ManagerOptionsTest() { options_.repositories = {repo_.path()}; }

  TempDir repo_;
  ModelManagerOptions options_;
};

TEST_F(ManagerOptionsTest, ARepositoryIsEnough) {
  EXPECT_THAT(CheckManagerOptions(options_), IsOk());
  EXPECT_THAT(CheckManagerOptions({}),
              StatusIs(kInvalid, HasSubstr("--model-repository")));
}

TEST_F(ManagerOptionsTest, EveryFaultIsNamedAtOnce) {
  options_.repositories = {"/no/such/folder"};
  options_.mode = ControlMode::kNone;
  options_.load_models = {"a/b"};
  options_.default_max_batch_size = 0;
  options_.model_name = "m";
  EXPECT_THAT(
      CheckManagerOptions(options_),
      StatusIs(kInvalid,
               AllOf(HasSubstr("/no/such/folder"), HasSubstr("--load-model"),
                     HasSubstr("'a/b'"), HasSubstr("--default-max-batch-size"),
                     HasSubstr("--model-path go together"))));
}

TEST_F(ManagerOptionsTest, OneModelOrARepositoryNotBoth) {
  options_.model_name = "m";
  options_.model_path = repo_.path();
  EXPECT_THAT(CheckManagerOptions(options_),
              StatusIs(kInvalid, HasSubstr("exclude each other")));
  options_.repositories.clear();
  EXPECT_THAT(CheckManagerOptions(options_), IsOk());
  options_.model_path = repo_.Path("absent");
  EXPECT_THAT(CheckManagerOptions(options_),
              StatusIs(kInvalid, HasSubstr("absent' does not exist")));
}

TEST_F(ManagerOptionsTest, BoundsArePositive) {
  options_.max_queue_bytes = 0;
  options_.load_threads = 0;
  options_.mode = ControlMode::kPoll;
  options_.poll_interval = absl::ZeroDuration();
  EXPECT_THAT(CheckManagerOptions(options_),
              StatusIs(kInvalid, AllOf(HasSubstr("--max-queue-bytes must be"),
                                       HasSubstr("--model-load-thread-count"),
                                       HasSubstr("--repository-poll-secs"))));
}

}  // namespace
}  // namespace reprise
