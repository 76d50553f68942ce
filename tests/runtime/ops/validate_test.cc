#include "runtime/ops/validate.h"

#include "tests/runtime/ops/ops_testing.h"
#include "tests/testing/status_matchers.h"

namespace reprise::ops {
namespace {

using testing::GraphBuilder;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

absl::Status ValidateNode(const std::string& op,
                          const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs,
                          int opset = 13) {
  return Validate(GraphBuilder(opset)
                      .Input("x", {1})
                      .Node(op, inputs, outputs)
                      .Output("y")
                      .Build());
}

TEST(ValidateTest, CountsInputsAndOutputsByOpset) {
  EXPECT_THAT(ValidateNode("Relu", {"x"}, {"y"}), IsOk());
  EXPECT_THAT(ValidateNode("Relu", {"x", "x"}, {"y"}),
              StatusIs(kInvalid, HasSubstr("node 0 (Relu): has 2 inputs")));
  EXPECT_THAT(ValidateNode("Add", {"x"}, {"y"}), StatusIs(kInvalid));
  EXPECT_THAT(ValidateNode("Add", {"x", ""}, {"y"}),
              StatusIs(kInvalid, HasSubstr("input 1 is missing")));
  EXPECT_THAT(ValidateNode("Relu", {"x"}, {"y", "z"}),
              StatusIs(kInvalid, HasSubstr("2 outputs")));
  EXPECT_THAT(ValidateNode("Unsqueeze", {"x", "x"}, {"y"}, 12),
              StatusIs(kInvalid));
  EXPECT_THAT(ValidateNode("Unsqueeze", {"x", "x"}, {"y"}, 13), IsOk());
  EXPECT_THAT(ValidateNode("Max", {"x", "x", "x"}, {"y"}), IsOk());
}

TEST(ValidateTest, UnknownOperatorsAreNamed) {
  EXPECT_THAT(ValidateNode("Scan", {"x"}, {"y"}),
              StatusIs(kUnimplemented,
                       HasSubstr("unsupported operator ai.onnx::Scan")));
}

TEST(CheckStringsTest, StringsPassThrough) {
  const graph::Graph graph = GraphBuilder()
                                 .Input("x", {-1, 2}, {}, DType::kString)
                                 .Ints("shape", {-1})
                                 .Node("Reshape", {"x", "shape"}, {"f"})
                                 .Node("Concat", {"f", "f"}, {"c"})
                                 .Set("axis", int64_t{0})
                                 .Node("Shape", {"c"}, {"s"})
                                 .Node("Cast", {"s"}, {"n"})
                                 .Set("to", int64_t{1})
                                 .Node("Gather", {"c", "shape"}, {"y"})
                                 .Output("y")
                                 .Output("n")
                                 .Build();
  EXPECT_THAT(CheckStrings(graph), IsOk());
}

TEST(CheckStringsTest, AnyOtherUseIsRefusedByNode) {
  const graph::Graph graph = GraphBuilder()
                                 .Input("x", {-1}, {}, DType::kString)
                                 .Node("Identity", {"x"}, {"i"})
                                 .Node("Equal", {"i", "i"}, {"y"})
                                 .Output("y")
                                 .Build();
  EXPECT_THAT(CheckStrings(graph),
              StatusIs(kUnimplemented, HasSubstr("node 1 (Equal): BYTES")));
}

}  // namespace
}  // namespace reprise::ops
