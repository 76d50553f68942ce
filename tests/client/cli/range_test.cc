#include "client/cli/range.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::SizeIs;

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

TEST(RangeTest, RealNumbersMayBeFractions) {
  EXPECT_THAT(*ParseRealRange("0.5"), ElementsAre(0.5));
  EXPECT_THAT(*ParseRealRange("0.5:2:0.5"), ElementsAre(0.5, 1, 1.5, 2));
  EXPECT_THAT(*ParseRealRange("1:3"), ElementsAre(1, 2, 3));
  // The last value is met in spite of rounding.
  EXPECT_THAT(*ParseRealRange("0.1:0.3:0.1"), SizeIs(3));
  for (const char* text : {"", "0", "-1", "nan", "inf", "1e300", "2:1",
                           "1:", "1:2:0", "1:2:1e-9"}) {
    EXPECT_THAT(ParseRealRange(text),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

}  // namespace
}  // namespace reprise::client
