#include "client/cli/infer_output.h"

#include <cmath>

#include "client/cli/elements.h"
#include "client/cli/npy.h"
#include "client/files.h"
#include "nlohmann/json.hpp"
#include "tests/client/cli/run_cli.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::client::testing::TempPath;
using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::HasSubstr;

Tensor Floats(const char* name, std::vector<int64_t> shape,
              const std::vector<double>& values) {
  Tensor tensor{name, "FP32", std::move(shape), ""};
  for (const double value : values) AppendElement("FP32", value, tensor.bytes);
  return tensor;
}

InferResult Result(std::vector<Tensor> outputs) {
  return {"m", "3", "", std::move(outputs)};
}

TEST(InferOutputTest, TheTableShowsShapesAndFirstValues) {
  EXPECT_EQ(OutputTable(Result({Floats("y", {1, 2}, {0.5, 2})})),
            "OUTPUT  DATATYPE  SHAPE   VALUES\n"
            "y       FP32      [1, 2]  0.5, 2\n");
}

TEST(InferOutputTest, TopKSortsEachRow) {
  const InferResult result =
      Result({Floats("y", {2, 3}, {0.1, 0.9, 0.5, 7, 7, std::nan("")})});
  const auto text = TopK(result, 2, {"cat", "dog"});
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(*text,
            "OUTPUT  ROW  TOP  INDEX  VALUE  LABEL\n"
            "y         0    1      1    0.9  dog\n"
            "               2      2    0.5\n"
            "y         1    1      0      7  cat\n"
            "               2      1      7  dog\n");
  EXPECT_THAT(*TopK(result, 100, {}), HasSubstr("nan"));
}

TEST(InferOutputTest, TopKOfAVectorIsOneRow) {
  EXPECT_EQ(*TopK(Result({Floats("y", {3}, {1, 3, 2})}), 1, {}),
            "OUTPUT  ROW  TOP  INDEX  VALUE\n"
            "y         0    1      1      3\n");
  EXPECT_THAT(*TopK(Result({Floats("y", {0, 3}, {})}), 1, {}),
              HasSubstr("OUTPUT"));
}

TEST(InferOutputTest, TopKIsExactForIntegers) {
  const int64_t large = 9007199254740993;
  const InferResult result =
      Result({{"y",
               "INT64",
               {1},
               std::string(reinterpret_cast<const char*>(&large), 8)}});
  EXPECT_EQ(*TopK(result, 1, {}),
            "OUTPUT  ROW  TOP  INDEX             VALUE\n"
            "y         0    1      0  9007199254740993\n");
  EXPECT_EQ((*TopKJson(result, 1, {}))["outputs"][0]["top"].dump(),
            R"([[{"index":0,"value":9007199254740993}]])");
}

TEST(InferOutputTest, TopKNeedsNumbers) {
  EXPECT_THAT(TopK(Result({{"s", "BYTES", {1}, EncodeStrings({"a"})}}), 1, {}),
              StatusIs(kInvalid, "--top-k: no output is numeric"));
}

TEST(InferOutputTest, JsonHasTheProtocolsForm) {
  InferResult result = Result({Floats("y", {1, 2}, {0.5, 2})});
  EXPECT_EQ(ResultJson(result).dump(),
            R"({"model_name":"m","model_version":"3","outputs":[{"name":"y",)"
            R"("datatype":"FP32","shape":[1,2],"data":[0.5,2.0]}]})");
  result.id = "me";
  EXPECT_EQ(ResultJson(result)["id"], "me");
}

TEST(InferOutputTest, JsonOfTheLargestHasARowForEachRow) {
  const InferResult result =
      Result({Floats("y", {2, 3}, {0.1, 0.9, 0.5, 7, 7, std::nan("")}),
              {"s", "BYTES", {1}, EncodeStrings({"a"})}});
  const auto json = TopKJson(result, 2, {"cat", "dog"});
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ(json->dump(),
            R"({"model_name":"m","model_version":"3","outputs":[{"name":"y",)"
            R"("datatype":"FP32","shape":[2,3],"top":[[{"index":1,"value":)"
            R"(0.8999999761581421,"label":"dog"},{"index":2,"value":0.5}],)"
            R"([{"index":0,"value":7.0,"label":"cat"},{"index":1,"value":7.0,)"
            R"("label":"dog"}]]}]})");
  EXPECT_EQ((*TopKJson(result, 3, {}))["outputs"][0]["top"][1][2]["value"],
            nullptr);
  EXPECT_THAT(
      TopKJson(Result({{"s", "BYTES", {1}, EncodeStrings({"a"})}}), 1, {}),
      StatusIs(kInvalid, "--top-k: no output is numeric"));
}

TEST(InferOutputTest, WritesArrays) {
  const std::string path = TempPath("out.npy");
  const InferResult result = Result({Floats("y", {1, 2}, {0.5, 2})});
  ASSERT_THAT(WriteOutputs(result, {"y=" + path}), IsOk());
  const auto again = ParseNpy(*ReadFile(path));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->bytes, result.outputs[0].bytes);
  EXPECT_EQ(again->shape, result.outputs[0].shape);
}

TEST(InferOutputTest, NamesWhatItCannotWrite) {
  const InferResult result = Result({Floats("y", {1}, {1})});
  EXPECT_THAT(WriteOutputs(result, {"z=a.npy"}),
              StatusIs(kInvalid, "--output: there is no output \"z\", only y"));
  EXPECT_THAT(WriteOutputs(result, {"a.npy"}),
              StatusIs(kInvalid, HasSubstr("NAME=FILE.npy")));
  EXPECT_THAT(WriteOutputs(result, {"y=/no/such/a.npy"}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace reprise::client
