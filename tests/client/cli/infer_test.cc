#include "client/cli/npy.h"
#include "client/files.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/client/cli/run_cli.h"
#include "tests/client/fake_service.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::client::testing::CliRun;
using reprise::client::testing::FakeServer;
using reprise::client::testing::RunReprise;
using reprise::client::testing::TempPath;
using reprise::testing::IsOk;
using ::testing::HasSubstr;

class InferTest : public ::testing::Test {
 protected:
  CliRun Infer(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "infer");
    arguments.insert(arguments.end(), {"--server", server_.address()});
    return RunReprise(arguments);
  }

  // A picture of 8 x 8 whose first pixel is `digit`.
  static std::string Picture(int digit) {
    const std::string path = TempPath(std::to_string(digit) + ".pgm");
    std::string bytes = "P5 8 8 255\n";
    bytes += static_cast<char>(digit);
    bytes += std::string(63, '\0');
    EXPECT_THAT(WriteFile(path, bytes), IsOk());
    return path;
  }

  FakeServer server_;
};

TEST_F(InferTest, PicturesAreABatchAndTheAnswerItsTopK) {
  const std::string labels = TempPath("labels.txt");
  ASSERT_THAT(WriteFile(labels, "zero\none\ntwo\nthree\nfour\nfive\n"), IsOk());
  const CliRun run = Infer(
      {"digits", Picture(3), Picture(5), "--top-k", "2", "--labels", labels});
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.code, ExitCode::kOk);
  EXPECT_EQ(run.out,
            "OUTPUT  ROW  TOP  INDEX  VALUE  LABEL\n"
            "scores    0    1      3      1  three\n"
            "               2      4    0.5  four\n"
            "scores    1    1      5      1  five\n"
            "               2      6    0.5\n");
}

TEST_F(InferTest, PrintsATable) {
  const CliRun run = Infer({"digits", Picture(1)});
  EXPECT_EQ(run.out,
            "OUTPUT  DATATYPE  SHAPE    VALUES\n"
            "scores  FP32      [1, 10]  0, 1, 0.5, 0, 0, 0, 0, 0, ...\n");
}

TEST_F(InferTest, PrintsJsonAndWritesArrays) {
  const std::string a = TempPath("a.npy");
  ASSERT_THAT(
      WriteFile(a, *FormatNpy({"", "INT32", {16}, std::string(64, '\1')})),
      IsOk());
  const std::string out = TempPath("sum.npy");
  const CliRun run =
      Infer({"simple", "--input", "INPUT0=" + a, "--input", "zeros", "--output",
             "OUTPUT0=" + out, "--json", "--id", "me"});
  EXPECT_EQ(run.code, ExitCode::kOk) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["model_name"], "simple");
  EXPECT_EQ(json["id"], "me");
  EXPECT_EQ(json["outputs"][0]["data"][15], 0x01010101);
  EXPECT_EQ(ParseNpy(*ReadFile(out))->bytes, std::string(64, '\1'));
}

TEST_F(InferTest, JsonAndTopKGoTogether) {
  const CliRun run = Infer({"digits", Picture(3), "--top-k", "1", "--json"});
  EXPECT_EQ(run.code, ExitCode::kOk) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["outputs"][0]["name"], "scores");
  EXPECT_EQ(json["outputs"][0]["top"][0][0]["index"], 3);
  EXPECT_FALSE(json["outputs"][0].contains("data"));
}

TEST_F(InferTest, SendsWhatTheFlagsSay) {
  ASSERT_EQ(Infer({"digits", "random", "--batch", "4", "--priority", "2",
                   "--queue-timeout", "5ms", "--want", "scores",
                   "--model-version", "1"})
                .code,
            ExitCode::kOk);
  const auto request = server_.service().last_infer();
  EXPECT_EQ(request.inputs(0).shape(0), 4);
  EXPECT_EQ(request.parameters().at("priority").uint64_param(), 2U);
  EXPECT_EQ(request.parameters().at("timeout").int64_param(), 5000);
  EXPECT_EQ(request.outputs(0).name(), "scores");
  EXPECT_EQ(request.model_version(), "1");
}

TEST_F(InferTest, LabelsNeedTopK) {
  const CliRun run = Infer({"digits", "zeros", "--labels", "labels.txt"});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.err,
            "reprise infer: --labels names what --top-k prints: give --top-k "
            "too\n");
}

TEST_F(InferTest, ABatchRepeatsThePicture) {
  const CliRun run = Infer({"digits", Picture(4), "--batch", "3", "--json"});
  EXPECT_EQ(run.code, ExitCode::kOk) << run.err;
  EXPECT_EQ(server_.service().last_infer().inputs(0).shape(0), 3);
}

TEST_F(InferTest, AMissingInputIsOne) {
  const CliRun run = Infer({"digits"});
  EXPECT_EQ(run.code, ExitCode::kUsage);
  EXPECT_EQ(run.err,
            "reprise infer: input \"image\" (FP32 [-1, 1, 8, 8]) is missing; "
            "give --input image=FILE, or --input random\n");
}

TEST_F(InferTest, LocalFilesThatCannotBeUsedAreOne) {
  EXPECT_EQ(Infer({"digits", "/no/such.png"}).code, ExitCode::kUsage);
  EXPECT_EQ(
      Infer({"digits", "zeros", "--top-k", "1", "--labels", "/no/such"}).code,
      ExitCode::kUsage);
  EXPECT_EQ(Infer({"digits", "zeros", "--output", "none=x.npy"}).code,
            ExitCode::kUsage);
}

TEST_F(InferTest, TheServersRefusalIsThree) {
  const CliRun unknown = Infer({"nothing", "random"});
  EXPECT_EQ(unknown.code, ExitCode::kRpcError);
  EXPECT_THAT(unknown.err, HasSubstr("NOT_FOUND"));
}

}  // namespace
}  // namespace reprise::client
