#include "client/cli/flags.h"

#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() {
    flags_.Switch("json", &json_, "print JSON");
    flags_.Text("server", "HOST:PORT", &server_, "where it is");
    flags_.List("input", "NAME=FILE", &inputs_, "what to send");
    flags_.Group("Numbers");
    flags_.Count("count", "N", &count_, "how many");
    flags_.Real("ratio", "X", &ratio_, "how much");
    flags_.Time("timeout", "TIME", &timeout_, "how long");
    flags_.PositiveTime("duration", "TIME", &duration_, "how long at least");
  }

  FlagTable flags_;
  bool json_ = false;
  std::string server_ = "localhost";
  std::vector<std::string> inputs_;
  int64_t count_ = 3;
  double ratio_ = 0.5;
  absl::Duration timeout_ = absl::Seconds(10);
  absl::Duration duration_;
};

TEST_F(FlagsTest, SetsTargetsAndReturnsTheRest) {
  const auto rest =
      flags_.Parse({"a", "--json", "--server=x:1", "--input", "p=q", "-", "b",
                    "--input=r=s", "--count", "7", "--ratio", "-1.5",
                    "--timeout", "1m30s", "--", "--json"});
  ASSERT_THAT(rest, IsOk());
  EXPECT_THAT(*rest, ElementsAre("a", "-", "b", "--json"));
  EXPECT_TRUE(json_);
  EXPECT_EQ(server_, "x:1");
  EXPECT_THAT(inputs_, ElementsAre("p=q", "r=s"));
  EXPECT_EQ(count_, 7);
  EXPECT_EQ(ratio_, -1.5);
  EXPECT_EQ(timeout_, absl::Seconds(90));
}

TEST_F(FlagsTest, DefaultsStay) {
  ASSERT_THAT(flags_.Parse({}), IsOk());
  EXPECT_EQ(server_, "localhost");
  EXPECT_EQ(count_, 3);
}

TEST_F(FlagsTest, WhatIsSentIsUtf8) {
  std::string id;
  std::vector<std::string> names;
  flags_.SentText("id", "TEXT", &id, "who asks");
  flags_.SentList("want", "NAME", &names, "what for");
  ASSERT_THAT(flags_.Parse({"--id", "\xC3\xA9", "--want=a", "--want=b"}),
              IsOk());
  EXPECT_EQ(id, "\xC3\xA9");
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_THAT(flags_.Parse({"--id", "a\xFF"}),
              StatusIs(kInvalid, "--id: \"a\\xff\" is not UTF-8"));
  EXPECT_THAT(flags_.Parse({"--want", "a\xFF"}),
              StatusIs(kInvalid, "--want: \"a\\xff\" is not UTF-8"));
  EXPECT_THAT(flags_.Parse({"--server", "a\xFF"}), IsOk());
}

TEST_F(FlagsTest, ASwitchTakesAnExplicitValue) {
  ASSERT_THAT(flags_.Parse({"--json=false"}), IsOk());
  EXPECT_FALSE(json_);
  EXPECT_THAT(flags_.Parse({"--json=maybe"}),
              StatusIs(kInvalid, "--json: \"maybe\" is not true or false"));
}

TEST_F(FlagsTest, NamesTheFlagThatIsWrong) {
  EXPECT_THAT(
      flags_.Parse({"--count", "0"}),
      StatusIs(kInvalid, "--count: \"0\" is not a whole number of 1 or more"));
  EXPECT_THAT(flags_.Parse({"--count=many"}), StatusIs(kInvalid));
  EXPECT_THAT(flags_.Parse({"--ratio=x"}),
              StatusIs(kInvalid, HasSubstr("--ratio")));
  EXPECT_THAT(flags_.Parse({"--timeout=5"}),
              StatusIs(kInvalid, HasSubstr("500us, 10s")));
  EXPECT_THAT(flags_.Parse({"--timeout=-5s"}), StatusIs(kInvalid));
  EXPECT_THAT(flags_.Parse({"--server"}),
              StatusIs(kInvalid, "--server needs a value: HOST:PORT"));
}

TEST_F(FlagsTest, SomeTimesMayNotBeZero) {
  EXPECT_THAT(flags_.Parse({"--timeout=0"}), IsOk());
  EXPECT_THAT(flags_.Parse({"--duration=1us"}), IsOk());
  EXPECT_THAT(flags_.Parse({"--duration=0s"}),
              StatusIs(kInvalid, "--duration: \"0s\" is not above zero"));
}

TEST_F(FlagsTest, SuggestsTheNearestFlag) {
  EXPECT_THAT(flags_.Parse({"--jsno"}),
              StatusIs(kInvalid, "unknown flag --jsno; did you mean --json?"));
  EXPECT_THAT(flags_.Parse({"--something"}),
              StatusIs(kInvalid, "unknown flag --something"));
  EXPECT_THAT(flags_.Parse({"-x"}), StatusIs(kInvalid, "unknown flag -x"));
}

TEST_F(FlagsTest, HelpShowsGroupsValuesAndDefaults) {
  const std::string help = flags_.Help();
  EXPECT_THAT(help, HasSubstr("Flags:\n  --json                      print"));
  EXPECT_THAT(help, HasSubstr("--server HOST:PORT          where it is "
                              "(default localhost)"));
  EXPECT_THAT(help, HasSubstr("(may be repeated)"));
  EXPECT_THAT(help, HasSubstr("\nNumbers:\n  --count N"));
  EXPECT_THAT(help, HasSubstr("(default 10s)"));
}

TEST(FlagsHelpTest, NoLineIsWiderThanATerminal) {
  FlagTable flags;
  bool on = false;
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word ";
  flags.Switch("a-name-that-is-longer-than-the-left-column", &on, words);
  const std::string help = flags.Help();
  size_t start = 0;
  for (size_t end = help.find('\n'); end != std::string::npos;
       end = help.find('\n', start)) {
    EXPECT_LE(end - start, 80U);
    start = end + 1;
  }
}

}  // namespace
}  // namespace reprise::client
