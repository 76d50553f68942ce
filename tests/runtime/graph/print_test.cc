#include "runtime/graph/print.h"

#include <utility>

#include "gtest/gtest.h"

namespace reprise::graph {
namespace {

TEST(PrintGraphTest, ShowsEverythingButTheContents) {
  Graph graph;
  Value x{"x", DType::kFp32, true, {kFreeDim, kFreeDim, 4}, {"N", "", ""}, {}};
  Value w{"w", DType::kFp32, true, {4, 2}, {"", ""}, {}};
  w.constant = std::make_shared<const HostTensor>(
      HostTensor::Create(DType::kFp32, {4, 2}).value());
  Value y;
  y.name = "y";
  graph.values = {x, w, y};
  graph.inputs = {0};
  graph.outputs = {2};
  Node node;
  node.name = "fc";
  node.op = "Gemm";
  node.domain = "ai.test";
  node.version = 13;
  node.index = 7;
  node.inputs = {0, 1, kNoValue};
  node.outputs = {2};
  node.attributes.Set("alpha", 0.5f);
  node.attributes.Set("axes", std::vector<int64_t>{1, -1});
  node.attributes.Set("mode", std::string("edge"));
  graph.nodes.push_back(std::move(node));
  EXPECT_EQ(PrintGraph(graph),
            "input x FP32 [N,?,4]\n"
            "constant w FP32 [4,2]\n"
            "node 7 'fc' ai.test::Gemm@13 (x, w, -) -> (y) alpha=0.5 "
            "axes=[1,-1] mode='edge'\n"
            "output y FP32 ?\n");
}

}  // namespace
}  // namespace reprise::graph
