#include "runtime/model/config_parameters.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

struct Read {
  ConfigParameters parameters;
  std::vector<std::string> faults;
  std::vector<std::string> unknown;
};

Read ReadAll(const std::map<std::string, std::string>& given) {
  inference::ModelConfig config;
  for (const auto& [key, text] : given) {
    (*config.mutable_parameters())[key].set_string_value(text);
  }
  Read read;
  read.parameters = ReadParameters(config, read.faults, read.unknown);
  return read;
}

TEST(ConfigParametersTest, HasDefaults) {
  const Read read = ReadAll({});
  EXPECT_FALSE(read.parameters.slo.has_value());
  EXPECT_EQ(read.parameters.max_variants, 32);
  EXPECT_EQ(read.parameters.precision, "tf32");
  EXPECT_FALSE(read.parameters.precision_configured);
  EXPECT_THAT(read.parameters.variants, IsEmpty());
}

TEST(ConfigParametersTest, ReadsAllOfThem) {
  const Read read =
      ReadAll({{"slo_ms", "12.5"},
               {"max_variants", "4"},
               {"precision", "fp16"},
               {"dim.height", "224"},
               {"dim.mask[1]", "1..512"},
               {"fusions", "bias, activation"},
               {"variants", "height=224, seq=32; seq = 128 ,height=224;"}});
  EXPECT_THAT(read.faults, IsEmpty());
  EXPECT_EQ(read.parameters.slo, absl::Microseconds(12'500));
  EXPECT_EQ(read.parameters.max_variants, 4);
  EXPECT_EQ(read.parameters.precision, "fp16");
  EXPECT_THAT(read.parameters.fusions_off, ElementsAre("bias", "activation"));
  EXPECT_EQ(read.parameters.dims.at("height").low, 224);
  EXPECT_EQ(read.parameters.dims.at("height").high, 224);
  EXPECT_EQ(read.parameters.dims.at("mask[1]").low, 1);
  EXPECT_EQ(read.parameters.dims.at("mask[1]").high, 512);
  EXPECT_THAT(
      read.parameters.variants,
      ElementsAre(UnorderedElementsAre(Pair("height", 224), Pair("seq", 32)),
                  UnorderedElementsAre(Pair("height", 224), Pair("seq", 128))));
}

TEST(ConfigParametersTest, FusionsAreOffAllTogetherOrByName) {
  EXPECT_THAT(ReadAll({}).parameters.fusions_off, IsEmpty());
  EXPECT_THAT(ReadAll({{"fusions", " off "}}).parameters.fusions_off,
              ElementsAre("all"));
  EXPECT_THAT(ReadAll({{"fusions", "bias"}}).parameters.fusions_off,
              ElementsAre("bias"));
}

TEST(ConfigParametersTest, NamesTheParameterThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"slo_ms", "0"},       {"slo_ms", "soon"},       {"slo_ms", "nan"},
      {"max_variants", "0"}, {"max_variants", "1e3"},  {"precision", "int8"},
      {"dim.x", "0"},        {"dim.x", "5..4"},        {"dim.x", "1.."},
      {"dim.x", "1...4"},    {"dim.x", "99999999999"}, {"variants", ""},
      {"variants", "x"},     {"variants", "x=0"},      {"variants", "x=1,x=2"},
      {"variants", "=3"},    {"fusions", ""},          {"fusions", "bias,"}};
  for (const auto& [key, text] : wrong) {
    const Read read = ReadAll({{key, text}});
    ASSERT_THAT(read.faults, SizeIs(1)) << key << "=" << text;
    EXPECT_THAT(read.faults[0], HasSubstr("parameter " + key));
  }
}

TEST(ConfigParametersTest, LeavesOtherServersKeysAlone) {
  const Read read = ReadAll({{"intra_op_thread_count", "2"}});
  EXPECT_THAT(read.faults, IsEmpty());
  EXPECT_THAT(read.unknown, ElementsAre("parameters['intra_op_thread_count']"));
}

}  // namespace
}  // namespace reprise
