#include "client/cli/infer_input.h"

#include "client/cli/elements.h"
#include "client/cli/npy.h"
#include "client/files.h"
#include "tests/client/cli/run_cli.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::client::testing::TempPath;
using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InferInputTest : public ::testing::Test {
 protected:
  void AddInput(const char* name, const char* datatype,
                const std::vector<int64_t>& shape) {
    auto& input = *model_.add_inputs();
    input.set_name(name);
    input.set_datatype(datatype);
    input.mutable_shape()->Assign(shape.begin(), shape.end());
  }

  absl::StatusOr<std::vector<Tensor>> Make() {
    model_.set_name("m");
    return MakeInputs(model_, options_);
  }

  static std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = TempPath(name);
    EXPECT_THAT(WriteFile(path, bytes), IsOk());
    return path;
  }
  static std::string WriteNpy(const std::string& name, const Tensor& tensor) {
    return Write(name, *FormatNpy(tensor));
  }

  inference::ModelMetadataResponse model_;
  InputOptions options_;
};

TEST_F(InferInputTest, MakesUpWhatIsNotNamed) {
  AddInput("a", "INT32", {-1, 4});
  AddInput("b", "FP32", {-1, 2});
  options_.inputs = {"random", "a=zeros"};
  options_.batch = 3;
  const auto tensors = Make();
  ASSERT_THAT(tensors, IsOk());
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_THAT((*tensors)[0].shape, ElementsAre(3, 4));
  EXPECT_EQ((*tensors)[0].bytes, std::string(48, '\0'));
  EXPECT_THAT((*tensors)[1].shape, ElementsAre(3, 2));
  EXPECT_NE((*tensors)[1].bytes, std::string(24, '\0'));
}

TEST_F(InferInputTest, FreeDimsNeedAShape) {
  AddInput("ids", "INT64", {-1, -1});
  options_.inputs = {"random"};
  EXPECT_THAT(Make(), StatusIs(kInvalid,
                               "input \"ids\" has free dims [1, -1]; "
                               "say them with --shape ids:N"));
  options_.shapes = {"ids:128"};
  EXPECT_THAT((*Make())[0].shape, ElementsAre(1, 128));
  options_.shapes = {"ids:5,7"};
  EXPECT_THAT((*Make())[0].shape, ElementsAre(5, 7));
  for (const char* bad : {"ids:1,2,3", "ids:x", "ids:-1", "ids"}) {
    options_.shapes = {bad};
    EXPECT_THAT(Make(), StatusIs(kInvalid)) << bad;
  }
  for (const char* bad : {"ids", "5", ":5", "ids:x", "ids:"}) {
    options_.shapes = {bad};
    EXPECT_THAT(Make(), StatusIs(kInvalid, std::string("--shape: \"") + bad +
                                               "\" is not NAME:N[,N...]"));
  }
  options_.shapes = {"other:5"};
  EXPECT_THAT(Make(), StatusIs(kInvalid, HasSubstr("no input \"other\"")));
}

TEST_F(InferInputTest, NamesWhatIsMissingAndWhatIsUnknown) {
  AddInput("a", "INT32", {-1, 4});
  AddInput("b", "FP32", {2});
  options_.inputs = {"a=zeros"};
  EXPECT_THAT(Make(), StatusIs(kInvalid,
                               "input \"b\" (FP32 [2]) is missing; give "
                               "--input b=FILE, or --input random"));
  options_.inputs = {"c=zeros"};
  EXPECT_THAT(Make(), StatusIs(kInvalid,
                               "model \"m\" has no input \"c\"; it "
                               "has a, b"));
  options_.inputs = {"x.npy"};
  EXPECT_THAT(Make(), StatusIs(kInvalid, HasSubstr("NAME=x.npy")));
}

TEST_F(InferInputTest, ReadsArrays) {
  AddInput("x", "INT32", {-1, 2});
  const std::string row = WriteNpy("row.npy", {"", "INT32", {2}, "aaaabbbb"});
  const std::string rows =
      WriteNpy("rows.npy", {"", "INT32", {2, 2}, std::string(16, 'c')});
  options_.inputs = {row};
  const auto one = Make();
  ASSERT_THAT(one, IsOk());
  EXPECT_THAT((*one)[0].shape, ElementsAre(1, 2));
  options_.inputs = {"x=" + row, "x=" + rows};
  const auto both = Make();
  ASSERT_THAT(both, IsOk());
  EXPECT_EQ((*both)[0].name, "x");
  EXPECT_THAT((*both)[0].shape, ElementsAre(3, 2));
  EXPECT_EQ((*both)[0].bytes, "aaaabbbb" + std::string(16, 'c'));
}

TEST_F(InferInputTest, SaysWhyAnArrayDoesNotFit) {
  AddInput("x", "INT32", {-1, 2});
  const std::string floats = WriteNpy("f.npy", {"", "FP32", {1}, "aaaa"});
  options_.inputs = {floats};
  EXPECT_THAT(Make(), StatusIs(kInvalid, floats + " holds FP32, but input "
                                                  "\"x\" is INT32"));
  const std::string two = WriteNpy("2.npy", {"", "INT32", {1, 2}, "aaaabbbb"});
  const std::string one = WriteNpy("1.npy", {"", "INT32", {1, 1}, "aaaa"});
  options_.inputs = {two, one};
  EXPECT_THAT(Make(), StatusIs(kInvalid, HasSubstr("cannot follow [1, 2]")));
  const std::string broken = Write("broken.npy", "no array");
  options_.inputs = {broken};
  EXPECT_THAT(Make(),
              StatusIs(kInvalid, broken + ": not a .npy file: wrong magic"));
  options_.inputs = {"/no/such.npy"};
  EXPECT_THAT(Make(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(InferInputTest, ReadsPictures) {
  AddInput("x", "UINT8", {-1, 1, 1, 2});
  const std::string a = Write("a.pgm", "P5 2 1 255 ab");
  const std::string b = Write("b.pgm", "P5 2 1 255 cd");
  options_.inputs = {a, b};
  const auto tensors = Make();
  ASSERT_THAT(tensors, IsOk());
  EXPECT_THAT((*tensors)[0].shape, ElementsAre(2, 1, 1, 2));
  EXPECT_EQ((*tensors)[0].bytes, "abcd");
  const std::string broken = Write("broken.png", "no picture");
  options_.inputs = {broken};
  EXPECT_THAT(Make(), StatusIs(kInvalid, HasSubstr(broken)));
}

TEST_F(InferInputTest, TakesOtherFilesAsTheyAre) {
  AddInput("x", "INT16", {-1, 2});
  options_.inputs = {Write("raw.bin", "aabbccdd")};
  const auto tensors = Make();
  ASSERT_THAT(tensors, IsOk());
  EXPECT_THAT((*tensors)[0].shape, ElementsAre(2, 2));
  EXPECT_EQ((*tensors)[0].bytes, "aabbccdd");
  const std::string torn = Write("torn.bin", "aabbc");
  options_.inputs = {torn};
  EXPECT_THAT(Make(),
              StatusIs(kInvalid, AllOf(HasSubstr(torn), HasSubstr("5 bytes"))));
}

TEST_F(InferInputTest, ReadsStrings) {
  AddInput("text", "BYTES", {-1, 2});
  const std::string path = Write("strings.bin", EncodeStrings({"a", "b"}));
  options_.inputs = {path};
  EXPECT_THAT((*Make())[0].shape, ElementsAre(1, 2));
  options_.shapes = {"text:2"};
  EXPECT_THAT((*Make())[0].shape, ElementsAre(1, 2));
  options_.shapes = {"text:1,2"};
  EXPECT_THAT((*Make())[0].shape, ElementsAre(1, 2));
  options_.shapes.clear();
  options_.inputs = {Write("strings.txt", "one\ntwo\nthree\nfour\n")};
  EXPECT_THAT((*Make())[0].shape, ElementsAre(2, 2));
}

TEST_F(InferInputTest, ARawFileHasOneFreeDim) {
  AddInput("ids", "INT64", {-1, -1});
  options_.inputs = {Write("ids.bin", std::string(32, '\0'))};
  EXPECT_THAT(Make(), StatusIs(kInvalid, HasSubstr("--shape ids:N")));
  options_.shapes = {"ids:2"};
  EXPECT_THAT((*Make())[0].shape, ElementsAre(2, 2));
}

TEST_F(InferInputTest, ABatchRepeatsTheRowsOfFiles) {
  AddInput("x", "UINT8", {-1, 1, 1, 2});
  const std::string a = Write("r1.pgm", "P5 2 1 255 ab");
  const std::string b = Write("r2.pgm", "P5 2 1 255 cd");
  options_.inputs = {a, b};
  options_.batch = 5;
  const auto five = Make();
  ASSERT_THAT(five, IsOk());
  EXPECT_THAT((*five)[0].shape, ElementsAre(5, 1, 1, 2));
  EXPECT_EQ((*five)[0].bytes, "abcdabcdab");
  EXPECT_EQ(RowCount(model_, *five), 5);
  options_.batch = 0;
  EXPECT_EQ(RowCount(model_, *Make()), 2);
  options_.batch = 1;
  EXPECT_THAT(
      Make(),
      StatusIs(kInvalid, "input \"x\": --batch 1, but its files hold 2 rows"));
  options_.batch = int64_t{1} << 40;
  EXPECT_THAT(Make(), StatusIs(kInvalid, HasSubstr("larger than 2 GiB")));
}

TEST_F(InferInputTest, ABatchRepeatsStrings) {
  AddInput("s", "BYTES", {-1, 1});
  options_.inputs = {Write("repeat.txt", "one\ntwo\n")};
  options_.batch = 3;
  const auto tensors = Make();
  ASSERT_THAT(tensors, IsOk());
  EXPECT_THAT((*tensors)[0].shape, ElementsAre(3, 1));
  EXPECT_THAT(*DecodeStrings((*tensors)[0].bytes),
              ElementsAre("one", "two", "one"));
}

TEST_F(InferInputTest, ABatchNeedsAFreeDim) {
  AddInput("x", "UINT8", {2, 2});
  options_.inputs = {"zeros"};
  options_.batch = 3;
  EXPECT_THAT(Make(),
              StatusIs(kInvalid,
                       "--batch 3: model \"m\" has no input whose first "
                       "dim is free"));
  options_.batch = 1;
  ASSERT_THAT(Make(), IsOk());
  EXPECT_EQ(RowCount(model_, *Make()), 1);
}

TEST_F(InferInputTest, InputsDoNotShareRandomValues) {
  AddInput("a", "INT32", {-1, 16});
  AddInput("b", "INT32", {-1, 16});
  options_.inputs = {"random"};
  const auto tensors = Make();
  ASSERT_THAT(tensors, IsOk());
  EXPECT_NE((*tensors)[0].bytes, (*tensors)[1].bytes);
  EXPECT_EQ((*tensors)[1].bytes, (*Make())[1].bytes);
  const std::string second = (*tensors)[1].bytes;
  options_.seed = 2;
  EXPECT_NE((*Make())[0].bytes, second);
}

TEST_F(InferInputTest, AnArchiveOfArraysIsRefused) {
  AddInput("x", "INT16", {-1, 2});
  options_.inputs = {"all.npz"};
  EXPECT_THAT(Make(), StatusIs(kInvalid,
                               "all.npz is an archive of arrays; save the one "
                               "for input \"x\" with np.save, as .npy"));
}

TEST_F(InferInputTest, DoesNotMixSources) {
  AddInput("x", "INT16", {-1, 2});
  options_.inputs = {"x=zeros", "x=random"};
  EXPECT_THAT(Make(), StatusIs(kInvalid,
                               "input \"x\": 2 sources must be all pictures "
                               "or all .npy files"));
}

}  // namespace
}  // namespace reprise::client
