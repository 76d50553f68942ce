#include "runtime/graph/attributes.h"

#include "tests/testing/status_matchers.h"

namespace reprise::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(AttributesTest, GettersAreTyped) {
  Attributes attributes;
  attributes.Set("axis", int64_t{2});
  attributes.Set("alpha", 0.5f);
  attributes.Set("mode", std::string("edge"));
  attributes.Set("pads", std::vector<int64_t>{1, 2});
  EXPECT_THAT(attributes.Int("axis"), IsOkAndHolds(2));
  EXPECT_THAT(attributes.Float("alpha", 0), IsOkAndHolds(0.5f));
  EXPECT_THAT(attributes.String("mode", ""), IsOkAndHolds("edge"));
  EXPECT_THAT(attributes.Ints("pads", {}), IsOkAndHolds(ElementsAre(1, 2)));
  EXPECT_THAT(attributes.Float("axis", 0),
              StatusIs(kInvalid, HasSubstr("'axis' has the wrong type")));
}

TEST(AttributesTest, AbsentOnesHaveDefaultsOrAreNamed) {
  const Attributes attributes;
  EXPECT_FALSE(attributes.Has("axis"));
  EXPECT_THAT(attributes.Int("axis", 7), IsOkAndHolds(7));
  EXPECT_THAT(attributes.Int("axis"),
              StatusIs(kInvalid, HasSubstr("'axis' is missing")));
}

TEST(AttributesTest, ALaterValueReplaces) {
  Attributes attributes;
  attributes.Set("axis", int64_t{2});
  attributes.Set("axis", int64_t{3});
  EXPECT_THAT(attributes.Int("axis"), IsOkAndHolds(3));
  EXPECT_EQ(attributes.all().size(), 1u);
}

}  // namespace
}  // namespace reprise::graph
