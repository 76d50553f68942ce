#include "runtime/worker/manager_options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
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
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

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

TEST_F(ManagerOptionsTest, ANameThatIsNoneIsNamedWithItsFlag) {
  const auto fault = [](absl::string_view flag, absl::string_view name) {
    return HasSubstr(absl::StrCat(flag, ": '", name, "' is not a valid name"));
  };
  options_.mode = ControlMode::kExplicit;
  options_.load_models = {"a/b", "good", ""};
  options_.model_name = "c/d";
  options_.config_name = "e/f";
  EXPECT_THAT(CheckManagerOptions(options_),
              StatusIs(kInvalid, AllOf(fault("--load-model", "a/b"),
                                       fault("--load-model", ""),
                                       fault("--model-name", "c/d"),
                                       fault("--model-config-name", "e/f"))));
  EXPECT_THAT(ManagerValueFaults(options_), SizeIs(4));
}

TEST_F(ManagerOptionsTest, TheDefaultBatchIsBoundedLikeAConfiguredOne) {
  for (const int good : {1, 65536}) {
    options_.default_max_batch_size = good;
    EXPECT_THAT(CheckManagerOptions(options_), IsOk());
  }
  for (const int bad : {-1, 0, 65537, 2'000'000}) {
    options_.default_max_batch_size = bad;
    EXPECT_THAT(ManagerValueFaults(options_),
                ElementsAre(absl::StrCat("--default-max-batch-size must lie in "
                                         "[1, 65536], got ",
                                         bad)));
  }
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
