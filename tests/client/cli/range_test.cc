#include "client/cli/range.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::StatusIs;
using ::testing::ElementsAre;

TEST(RangeTest, OneValueAPairOrAPairWithAStep) {
  EXPECT_THAT(*ParseRange("5"), ElementsAre(5));
  EXPECT_THAT(*ParseRange("2:4"), ElementsAre(2, 3, 4));
  EXPECT_THAT(*ParseRange("1:8:3"), ElementsAre(1, 4, 7));
}

TEST(RangeTest, RefusesWhatIsNone) {
  for (const char* text :
       {"", "x", "0", "4:2", "1:2:0", "1:2:3:4", "1:", "1:100000"}) {
    EXPECT_THAT(ParseRange(text), StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

}  // namespace
}  // namespace reprise::client
