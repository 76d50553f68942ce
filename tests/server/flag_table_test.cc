#include "server/flag_table.h"

#include <set>

#include "tests/testing/status_matchers.h"

namespace reprise::testing {
namespace {

TEST(FlagTableTest, NamesAreUniqueAndEveryFlagIsExplained) {
  std::set<std::string> names;
  for (const FlagGroup& group : FlagTable()) {
    for (const Flag& flag : group.flags) {
      EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
      EXPECT_FALSE(flag.help.empty()) << flag.name;
      EXPECT_EQ(flag.help.back(), '.') << flag.name;
    }
  }
}

// What is shown can be set again, and is then shown alike.
TEST(FlagTableTest, EveryFlagTakesTheValueThatItShows) {
  const ServerOptions defaults;
  for (const FlagGroup& group : FlagTable()) {
    for (const Flag& flag : group.flags) {
      const std::string value = flag.show(defaults);
      if (flag.repeatable) continue;
      ServerOptions options;
      EXPECT_THAT(flag.set(value, options), IsOk()) << flag.name;
      EXPECT_EQ(flag.show(options), value) << flag.name;
    }
  }
}

TEST(FlagTableTest, TimesAreShownAsPlainNumbers) {
  const auto shown = [](const char* name, const char* value) {
    for (const FlagGroup& group : FlagTable()) {
      for (const Flag& flag : group.flags) {
        if (flag.name != name) continue;
        ServerOptions options;
        EXPECT_THAT(flag.set(value, options), IsOk());
        return flag.show(options);
      }
    }
    return std::string("no such flag");
  };
  EXPECT_EQ(shown("grpc-keepalive-time", "7200000"), "7200000");
  EXPECT_EQ(shown("grpc-keepalive-time", "1e12"), "1000000000000");
  EXPECT_EQ(shown("lame-duck-secs", "0.1"), "0.1");
}

TEST(FlagTableTest, NonsenseIsRefusedByEveryTypedFlag) {
  for (const FlagGroup& group : FlagTable()) {
    for (const Flag& flag : group.flags) {
      ServerOptions options;
      const bool is_text = flag.repeatable || flag.value == "NAME" ||
                           flag.value == "DIR" || flag.value == "FILE" ||
                           flag.value == "ADDRESS" || flag.value == "LIST";
      EXPECT_EQ(flag.set("non sense", options).ok(), is_text) << flag.name;
    }
  }
}

}  // namespace
}  // namespace reprise::testing
