#include "client/cli/table.h"

#include "gtest/gtest.h"

namespace reprise::client {
namespace {

TEST(TableTest, AlignsLeftAndRight) {
  Table table({"NAME", ">COUNT", "NOTE"});
  table.AddRow({"a", "1", "first"});
  table.AddRow({"longer", "12,345", ""});
  EXPECT_EQ(table.Text(),
            "NAME     COUNT  NOTE\n"
            "a            1  first\n"
            "longer  12,345\n");
}

TEST(TableTest, ACellIsOneLine) {
  Table table({"MODEL", "REASON"});
  table.AddRow({"m", "line one\nline two\n"});
  EXPECT_EQ(table.Text(), "MODEL  REASON\nm      line one; line two\n");
}

TEST(TableTest, ShortRowsAndUtf8) {
  Table table({"A", "B"});
  table.AddRow({"\xC3\xA9t\xC3\xA9", "x"});  // two letters of two bytes
  table.AddRow({"abcd"});
  EXPECT_EQ(table.Text(), "A     B\n\xC3\xA9t\xC3\xA9   x\nabcd\n");
}

}  // namespace
}  // namespace reprise::client
