#include "server/status_page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StatusPageTest, ModelsAreListedAndEscaped) {
  const std::string page =
      Render({.version = "1.2.3",
              .grpc_target = "127.0.0.1:8001",
              .uptime = absl::Seconds(61),
              .ready = false,
              .models = {{"<m>", "1", VersionState::kUnavailable, "a & b"}}});
  EXPECT_THAT(page, AllOf(HasSubstr("Reprise 1.2.3"), HasSubstr("not ready"),
                          HasSubstr("1m1s"), HasSubstr("&lt;m&gt;"),
                          HasSubstr("UNAVAILABLE"), HasSubstr("a &amp; b"),
                          Not(HasSubstr("<m>"))));
}

TEST(StatusPageTest, WithoutModelsItSaysSo) {
  EXPECT_THAT(Render({}), HasSubstr("No models."));
}

}  // namespace
}  // namespace reprise::testing
