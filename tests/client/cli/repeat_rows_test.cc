#include "client/cli/repeat_rows.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RepeatRowsTest, TheRowsComeOverAndOver) {
  const Tensor two{"x", "INT16", {2, 1}, "aabb"};
  const auto five = RepeatRows(two, 5);
  ASSERT_THAT(five, IsOk());
  EXPECT_EQ(five->name, "x");
  EXPECT_THAT(five->shape, ElementsAre(5, 1));
  EXPECT_EQ(five->bytes, "aabbaabbaa");
  EXPECT_EQ(RepeatRows(two, 2)->bytes, "aabb");
  EXPECT_EQ(RepeatRows(two, 4)->bytes, "aabbaabb");
}

TEST(RepeatRowsTest, StringsMayDifferInLength) {
  const Tensor two{"x", "BYTES", {2, 2}, EncodeStrings({"a", "", "bcd", "e"})};
  const auto three = RepeatRows(two, 3);
  ASSERT_THAT(three, IsOk());
  EXPECT_THAT(three->shape, ElementsAre(3, 2));
  EXPECT_THAT(*DecodeStrings(three->bytes),
              ElementsAre("a", "", "bcd", "e", "a", ""));
}

TEST(RepeatRowsTest, RefusesTooManyRowsAndTooFew) {
  EXPECT_THAT(
      RepeatRows({"x", "INT8", {2}, "ab"}, 1),
      StatusIs(kInvalid, "input \"x\": --batch 1, but its files hold 2 rows"));
  EXPECT_THAT(RepeatRows({"x", "INT8", {0}, ""}, 1), StatusIs(kInvalid));
  EXPECT_THAT(RepeatRows({"x", "INT8", {2}, "ab"}, int64_t{1} << 40),
              StatusIs(kInvalid, HasSubstr("larger than 2 GiB")));
}

}  // namespace
}  // namespace reprise::client
