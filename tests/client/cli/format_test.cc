#include "client/cli/format.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace reprise::client {
namespace {

TEST(FormatTest, NanosHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(FormatNanos(0), "0");
  EXPECT_EQ(FormatNanos(7), "7 ns");
  EXPECT_EQ(FormatNanos(999), "999 ns");
  EXPECT_EQ(FormatNanos(999.7), "1.00 us");
  EXPECT_EQ(FormatNanos(87'340), "87.3 us");
  EXPECT_EQ(FormatNanos(999'499), "999 us");
  EXPECT_EQ(FormatNanos(999'500), "1.00 ms");
  EXPECT_EQ(FormatNanos(1'204'000), "1.20 ms");
  EXPECT_EQ(FormatNanos(4.05e9), "4.05 s");
  EXPECT_EQ(FormatNanos(7.2e12), "7200 s");
}

TEST(FormatTest, CountsAreGrouped) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1'000), "1,000");
  EXPECT_EQ(FormatCount(-1'234'567), "-1,234,567");
  EXPECT_EQ(FormatCount(-123), "-123");
}

TEST(FormatTest, DecimalsDropWhatIsZero) {
  EXPECT_EQ(FormatDecimal(1), "1");
  EXPECT_EQ(FormatDecimal(3.5), "3.5");
  EXPECT_EQ(FormatDecimal(12.254), "12.25");
  EXPECT_EQ(FormatDecimal(100), "100");
}

TEST(FormatTest, OneLineHoldsNoControlCharacters) {
  EXPECT_EQ(OneLine("one\r\ntwo\nthree\n\n"), "one; two; three");
  EXPECT_EQ(OneLine("\x1B[2Jred\t\x7F\r!"), "\\x1B[2Jred\\x09\\x7F\\x0D!");
  EXPECT_EQ(OneLine("\xC2\x9B"
                    "1m \xC3\xA9"),
            "\\xC2\\x9B1m \xC3\xA9");
  EXPECT_EQ(OneLine("\xC2"), "\xC2");
}

TEST(FormatTest, JsonKeepsOrderAndReplacesWhatIsNoUtf8) {
  EXPECT_EQ(JsonText({{"b", 1}, {"a", "\xFF"}}),
            "{\n  \"b\": 1,\n  \"a\": \"\xEF\xBF\xBD\"\n}\n");
}

}  // namespace
}  // namespace reprise::client
