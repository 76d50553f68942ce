#include "runtime/base/utf8.h"

#include <string>

#include "gtest/gtest.h"

namespace reprise::testing {
namespace {

TEST(Utf8Test, CharactersOfEveryLengthAreWellFormed) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8(absl::string_view("a\0b", 3)));
  for (const char* const text : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
                                 "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                                 "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
}

TEST(Utf8Test, OverlongFormsSurrogatesAndWhatIsTooLargeAreNot) {
  for (const char* const text :
       {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

TEST(Utf8Test, HalfACharacterIsNotWellFormed) {
  for (const char* const text :
       {"\xff", "\x80", "x\xc3", "\xe2\x82", "\xc3x", "\xe2\x82x"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

TEST(Utf8Test, ABadByteIsShownAndTheRestStays) {
  EXPECT_EQ(ToUtf8(""), "");
  EXPECT_EQ(ToUtf8("größe \xe2\x82\xac"), "größe \xe2\x82\xac");
  EXPECT_EQ(ToUtf8("a\xff\xfe!"), "a\\xff\\xfe!");
  EXPECT_EQ(ToUtf8("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(ToUtf8("\xc3x\xc3\xbc"), "\\xc3x\xc3\xbc");
  EXPECT_EQ(ToUtf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(Utf8Test, ACharacterStartsAtItsFirstByte) {
  const std::string text =
      "a\xe2\x82\xac"
      "b";
  EXPECT_EQ(CharacterStart(text, 0), 0u);
  EXPECT_EQ(CharacterStart(text, 1), 1u);
  EXPECT_EQ(CharacterStart(text, 2), 1u);
  EXPECT_EQ(CharacterStart(text, 3), 1u);
  EXPECT_EQ(CharacterStart(text, 4), 4u);
}

TEST(Utf8Test, TextWithoutAStartIsCutAtItsBegin) {
  EXPECT_EQ(CharacterStart("\x80\x80\x80", 2), 0u);
}

}  // namespace
}  // namespace reprise::testing
