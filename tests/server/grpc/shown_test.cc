#include "server/grpc/shown.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

TEST(ShownTest, ControlCharactersAreEscapedAndTextIsNot) {
  EXPECT_EQ(Shown("a\nb"), "'a\\nb'");
  EXPECT_EQ(Shown("caf\xc3\xa9"), "'caf\xc3\xa9'");
}

TEST(ShownTest, LongNamesAreCutBetweenCharacters) {
  EXPECT_EQ(Shown(std::string(65, 'x')),
            absl::StrCat("'", std::string(64, 'x'), "...'"));
  std::string text(63, 'x');
  text += "\xc3\xa9";
  EXPECT_EQ(Shown(text), absl::StrCat("'", std::string(63, 'x'), "...'"));
}

TEST(ShownTest, TheRequestIdStandsInFrontIfThereIsOne) {
  EXPECT_EQ(WithRequestId("", "no"), "no");
  EXPECT_EQ(WithRequestId("a1", "no"), "[request id: a1] no");
}

}  // namespace
}  // namespace reprise::testing
