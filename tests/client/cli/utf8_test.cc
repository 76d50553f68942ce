#include "client/cli/utf8.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;

TEST(Utf8Test, TakesTextsOfAnyLanguage) {
  for (const char* text : {"", "a\"b", "\xC3\xA9", "\xE2\x82\xAC",
                           "\xF0\x9F\x98\x80", "\xEF\xBF\xBD"}) {
    EXPECT_THAT(CheckUtf8(text), IsOk()) << text;
  }
}

TEST(Utf8Test, RefusesEverythingElse) {
  // A lone byte, half a character, an overlong one, half a surrogate pair.
  for (const char* text : {"\xFF", "a\xC3", "\xC0\x80", "\xED\xA0\x80"}) {
    EXPECT_THAT(CheckUtf8(text), StatusIs(kInvalid)) << text;
  }
  EXPECT_THAT(CheckUtf8("a\xFF"),
              StatusIs(kInvalid, "\"a\\xff\" is not UTF-8"));
}

}  // namespace
}  // namespace reprise::client
