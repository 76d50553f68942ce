#include "runtime/graph/graph.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reprise::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Graph TwoNodes() {
  Graph graph;
  graph.values.resize(4);
  Node first;
  first.op = "Split";
  first.inputs = {0, kNoValue};
  first.outputs = {1, kNoValue};
  Node second;
  second.op = "Add";
  second.inputs = {1, 1};
  second.outputs = {2};
  graph.nodes.push_back(std::move(first));
  graph.nodes.push_back(std::move(second));
  return graph;
}

TEST(GraphTest, ProducersAreNodesOrNobody) {
  EXPECT_THAT(Producers(TwoNodes()), ElementsAre(-1, 0, 1, -1));
}

TEST(GraphTest, ConsumersAreListedOnce) {
  EXPECT_THAT(Consumers(TwoNodes()), ElementsAre(ElementsAre(0), ElementsAre(1),
                                                 IsEmpty(), IsEmpty()));
}

TEST(GraphTest, AnUnnamedDimIsCalledByItsPlace) {
  Value value;
  value.name = "x";
  value.dims = {kFreeDim, kFreeDim, kFreeDim};
  value.symbols = {"batch", ""};
  EXPECT_EQ(SymbolOf(value, 0), "batch");
  EXPECT_EQ(SymbolOf(value, 1), "x[1]");
  EXPECT_EQ(SymbolOf(value, 2), "x[2]");
}

TEST(GraphTest, NodesAreNamedForPeople) {
  Node node;
  node.op = "Conv";
  node.index = 12;
  EXPECT_EQ(NodeText(node), "node 12 (Conv)");
  node.name = "conv1";
  node.domain = "com.acme";
  EXPECT_EQ(NodeText(node), "node 12 'conv1' (com.acme::Conv)");
}

}  // namespace
}  // namespace reprise::graph
