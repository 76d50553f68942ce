#include "runtime/model/warmup.h"

#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/model/config_parse.h"
#include "runtime/tensor/float16.h"
#include "runtime/tensor/string_ref.h"
#include "tests/runtime/model/temp_dir.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TempDir;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Lt;
using ::testing::SizeIs;

class WarmupTest : public ::testing::Test {
 protected:
  WarmupTest() {
    signature_.batched = true;
    signature_.max_batch = 4;
    signature_.inputs = {{"x", DType::kFp32, {-1, 2}, {"seq", ""}},
                         {"s", DType::kString, {}, {}}};
    signature_.free_symbols = {"seq"};
  }

  absl::StatusOr<std::vector<WarmupRequest>> Make(const std::string& text) {
    const auto parsed = ParseConfigText(text);
    EXPECT_THAT(parsed, IsOk());
    ModelSource source;
    source.name = "m";
    source.folder = dir_.path();
    return MakeWarmup(parsed->proto, signature_, source);
  }

  static std::string Input(const std::string& name, const std::string& rest) {
    return "inputs { key: '" + name + "' value { " + rest + " } } ";
  }

  const std::string text_ =
      Input("s", "data_type: TYPE_STRING zero_data: true");
  TempDir dir_;
  Signature signature_;
};

TEST_F(WarmupTest, MakesZeroAndRandomData) {
  const auto requests =
      Make("model_warmup { name: 'zeros' batch_size: 3 " +
           Input("x", "data_type: TYPE_FP32 dims: [ 5, 2 ] zero_data: true") +
           text_ + "} model_warmup { name: 'random' count: 2 " +
           Input("x", "data_type: TYPE_FP32 dims: [ 1, 2 ] random_data: true") +
           text_ + "}");
  ASSERT_THAT(requests, IsOk());
  ASSERT_THAT(*requests, SizeIs(2));
  const WarmupRequest& zeros = (*requests)[0];
  EXPECT_EQ(zeros.rows, 3);
  EXPECT_EQ(zeros.count, 1);
  EXPECT_THAT(zeros.variant, ElementsAre(5));
  EXPECT_EQ(zeros.inputs[0].dims(), (Dims{3, 5, 2}));
  EXPECT_THAT(zeros.inputs[0].values<float>(), Each(0.0F));
  EXPECT_EQ(zeros.inputs[1].values<StringRef>()[2].size, 0U);
  const WarmupRequest& random = (*requests)[1];
  EXPECT_EQ(random.rows, 1);
  EXPECT_EQ(random.count, 2);
  const auto values = random.inputs[0].values<float>();
  EXPECT_NE(values[0], values[1]);
  EXPECT_THAT(values, Each(AllOf(Ge(0.0F), Lt(1.0F))));
}

TEST_F(WarmupTest, RandomSixteenBitFloatsAreSpreadLikeTheOthers) {
  signature_.inputs = {{"h", DType::kFp16, {64}, {""}},
                       {"b", DType::kBf16, {64}, {""}}};
  signature_.free_symbols.clear();
  const auto requests =
      Make("model_warmup { name: 'random' " +
           Input("h", "data_type: TYPE_FP16 dims: 64 random_data: true") +
           Input("b", "data_type: TYPE_BF16 dims: 64 random_data: true") + "}");
  ASSERT_THAT(requests, IsOk());
  const auto halves = (*requests)[0].inputs[0].values<Half>();
  const auto brains = (*requests)[0].inputs[1].values<BFloat16>();
  EXPECT_THAT(halves, Each(AllOf(Ge(0.0F), Le(1.0F))));
  EXPECT_THAT(halves, Contains(Ge(0.5F)));
  EXPECT_THAT(brains, Each(AllOf(Ge(0.0F), Le(1.0F))));
  EXPECT_THAT(brains, Contains(Ge(0.5F)));
}

TEST_F(WarmupTest, ReadsFilesOfTheWarmupFolder) {
  const float values[4] = {1, 2, 3, 4};
  std::string bytes(sizeof(values), '\0');
  std::memcpy(bytes.data(), values, sizeof(values));
  dir_.Write("warmup/x.bin", bytes);
  dir_.Write("warmup/s.bin", std::string("\3\0\0\0abc\0\0\0\0", 11));
  const auto requests = Make(
      "model_warmup { name: 'files' batch_size: 2 " +
      Input("x",
            "data_type: TYPE_FP32 dims: [ 1, 2 ] input_data_file: 'x.bin'") +
      Input("s", "data_type: TYPE_STRING input_data_file: 's.bin'") + "}");
  ASSERT_THAT(requests, IsOk());
  EXPECT_THAT((*requests)[0].inputs[0].values<float>(),
              ElementsAre(1, 2, 3, 4));
  const auto strings = (*requests)[0].inputs[1].values<StringRef>();
  EXPECT_EQ(std::string(strings[0].data, strings[0].size), "abc");
  EXPECT_EQ(strings[1].size, 0U);
}

TEST_F(WarmupTest, NamesTheSampleAndTheInput) {
  dir_.Write("warmup/short.bin", "123");
  const auto expect = [&](const std::string& inputs, const std::string& fault,
                          const std::string& batch = "") {
    EXPECT_THAT(
        Make("model_warmup { name: 'w' " + batch + inputs + "}"),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("model_warmup 'w'"), HasSubstr(fault))));
  };
  const std::string good =
      Input("x", "data_type: TYPE_FP32 dims: [ 1, 2 ] zero_data: true");
  expect(text_, "input 'x' is missing");
  expect(good + text_ + Input("z", "zero_data: true"), "does not have");
  expect(Input("x", "data_type: TYPE_INT8 dims: [ 1, 2 ]") + text_,
         "input 'x': data_type is not the model's FP32");
  expect(Input("x", "data_type: TYPE_FP32 dims: [ 1, 3 ]") + text_,
         "input 'x': dims [1,3] do not fit the model's [-1,2]");
  expect(Input("x", "data_type: TYPE_FP32 dims: [ -1, 2 ]") + text_, "[-1,2]");
  expect(Input("x", "data_type: TYPE_FP32 dims: [ 2 ]") + text_, "[2]");
  expect(Input("x",
               "data_type: TYPE_FP32 dims: [ 1, 2 ] "
               "input_data_file: 'short.bin'") +
             text_,
         "file warmup/short.bin: has 3 bytes, not 8");
  expect(good + Input("s",
                      "data_type: TYPE_STRING input_data_file: "
                      "'short.bin'"),
         "a length is cut");
  expect(Input("x",
               "data_type: TYPE_FP32 dims: [ 1, 2 ] "
               "input_data_file: '../config.pbtxt'") +
             text_,
         "of plain components");
  expect(good + text_, "batch_size 5 is above max_batch_size 4",
         "batch_size: 5 ");
}

TEST_F(WarmupTest, BoundsWhatItAllocates) {
  EXPECT_THAT(Make("model_warmup { name: 'w' " +
                   Input("x", "data_type: TYPE_FP32 dims: [ 1000000000, 2 ]") +
                   text_ + "}"),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace reprise
