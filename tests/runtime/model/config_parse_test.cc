#include "runtime/model/config_parse.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(ConfigParseTest, ReadsTheTextFormat) {
  const auto parsed = ParseConfigText(R"(
    name: "simple"  # a comment
    max_batch_size: 8
    input [ { name: "INPUT0" data_type: TYPE_INT32 dims: [ 16 ] } ]
    dynamic_batching { preferred_batch_size: [ 2, 4 ] }
    parameters { key: "slo_ms" value: { string_value: "50" } }
  )");
  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->proto.name(), "simple");
  EXPECT_EQ(parsed->proto.input(0).dims(0), 16);
  EXPECT_EQ(parsed->proto.dynamic_batching().preferred_batch_size_size(), 2);
  EXPECT_EQ(parsed->proto.parameters().at("slo_ms").string_value(), "50");
  EXPECT_TRUE(parsed->has_max_batch_size);
}

TEST(ConfigParseTest, KnowsAWrittenZeroFromNone) {
  EXPECT_TRUE(ParseConfigText("max_batch_size: 0")->has_max_batch_size);
  EXPECT_FALSE(ParseConfigText("name: 'x'")->has_max_batch_size);
  EXPECT_FALSE(ParseConfigText("")->has_max_batch_size);
  EXPECT_TRUE(ParseConfigJson(R"({"max_batch_size": 0})")->has_max_batch_size);
  EXPECT_TRUE(ParseConfigJson(R"({"maxBatchSize": 0})")->has_max_batch_size);
  EXPECT_FALSE(ParseConfigJson("{}")->has_max_batch_size);
}

TEST(ConfigParseTest, TextFaultsHaveALineAndAColumn) {
  EXPECT_THAT(ParseConfigText("name: 'broken'\nmax_batch_size: {\n"),
              StatusIs(kInvalid, HasSubstr("line 2:17")));
  EXPECT_THAT(
      ParseConfigText("name: 'x'\n\n  max_batch: 8\n"),
      StatusIs(kInvalid, AllOf(HasSubstr("line 3:"), HasSubstr("max_batch"))));
  EXPECT_THAT(ParseConfigText("input { data_type: TYPE_INT33 }"),
              StatusIs(kInvalid, HasSubstr("TYPE_INT33")));
}

TEST(ConfigParseTest, EveryStringMustBeUtf8) {
  EXPECT_THAT(ParseConfigText("name: 'gr\\303\\266\xc3\x9f'"), IsOk());
  for (const auto& [text, fault] : std::map<std::string, std::string>{
           {"name: 'a\xff'", "name: 'a\\xff' is not UTF-8"},
           {"default_model_filename: '\\377'",
            "default_model_filename: '\\xff' is not UTF-8"},
           {"instance_group { count: 1 } instance_group { name: '\\xff' }",
            "instance_group: name: '\\xff' is not UTF-8"},
           {"parameters { key: '\\xff' value: { string_value: 'x' } }",
            "parameters: key: '\\xff' is not UTF-8"},
           {"parameters { key: 'x' value: { string_value: '\\xff' } }",
            "parameters: value: string_value: '\\xff' is not UTF-8"}}) {
    EXPECT_THAT(ParseConfigText(text), StatusIs(kInvalid, HasSubstr(fault)))
        << text;
  }
}

TEST(ConfigParseTest, ReadsTheJsonForm) {
  const auto parsed = ParseConfigJson(
      R"({"name": "x", "max_batch_size": 4, "backend": "onnxruntime",
          "input": [{"name": "a", "data_type": "TYPE_INT32", "dims": [-1]}],
          "instance_group": [{"kind": "KIND_CPU"}]})");
  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->proto.max_batch_size(), 4);
  EXPECT_EQ(parsed->proto.input(0).dims(0), -1);
}

TEST(ConfigParseTest, RefusesBadJson) {
  for (const char* text : {"{bad", "", "{\"name\": \"a\",\n\n"}) {
    EXPECT_THAT(ParseConfigJson(text),
                StatusIs(kInvalid,
                         AllOf(StartsWith("not JSON: "), Not(HasSubstr("\n")))))
        << text;
  }
  for (const char* text : {"[]", R"({"max_batch_size": "many"})",
                           R"({"max_batch_size": 99999999999})",
                           R"({"input": [{"data_type": "TYPE_INT33"}]})"}) {
    EXPECT_THAT(ParseConfigJson(text),
                StatusIs(kInvalid, StartsWith("not a configuration: ")))
        << text;
  }
}

TEST(ConfigParseTest, AFaultOfJsonIsShownAtItsPlace) {
  EXPECT_THAT(ParseConfigJson("{\n  \"max_batch_size\": 4,\n  name: 'a' b}"),
              StatusIs(kInvalid, HasSubstr(" At 'b}'")));
  EXPECT_THAT(ParseConfigJson(R"({"name": "a")"),
              StatusIs(kInvalid, HasSubstr(" At its end")));
}

TEST(ConfigParseTest, AnUnknownFieldIsNamed) {
  EXPECT_THAT(ParseConfigJson(R"({"max_batsh": 1})"),
              StatusIs(kInvalid, "there is no such field: max_batsh"));
}

TEST(ConfigParseTest, BoundsDepthAndSize) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += R"({"input":[)";
  EXPECT_THAT(ParseConfigJson(deep), StatusIs(kInvalid));
  const std::string large(static_cast<size_t>(kMaxConfigBytes) + 1, ' ');
  EXPECT_THAT(ParseConfigText(large), StatusIs(kInvalid, HasSubstr("bytes")));
  EXPECT_THAT(ParseConfigJson(large), StatusIs(kInvalid, HasSubstr("bytes")));
}

}  // namespace
}  // namespace reprise
