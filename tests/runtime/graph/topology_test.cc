#include "runtime/graph/topology.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"

namespace reprise::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

// `values` values, and for each entry a node that reads and makes those.
struct Edge {
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};
Graph Make(int values, const std::vector<Edge>& edges) {
  Graph graph;
  graph.values.resize(static_cast<size_t>(values));
  for (size_t i = 0; i < edges.size(); ++i) {
    Node node;
    node.op = "Op";
    node.index = static_cast<int>(i);
    node.inputs = edges[i].inputs;
    node.outputs = edges[i].outputs;
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

std::vector<int> Indices(const Graph& graph) {
  std::vector<int> indices;
  for (const Node& node : graph.nodes) indices.push_back(node.index);
  return indices;
}

TEST(SortNodesTest, MovesOnlyWhatMustMove) {
  Graph graph = Make(5, {{{2}, {3}}, {{0}, {1}}, {{1}, {2}}, {{0}, {4}}});
  ASSERT_THAT(SortNodes(graph), IsOk());
  EXPECT_THAT(Indices(graph), ElementsAre(1, 2, 0, 3));
  Graph sorted = Make(4, {{{0}, {1}}, {{0}, {2}}, {{1, 2}, {3}}});
  ASSERT_THAT(SortNodes(sorted), IsOk());
  EXPECT_THAT(Indices(sorted), ElementsAre(0, 1, 2));
}

TEST(SortNodesTest, ANodeThatReadsAValueTwiceCountsOnce) {
  Graph graph = Make(3, {{{1, 1}, {2}}, {{0}, {1}}});
  ASSERT_THAT(SortNodes(graph), IsOk());
  EXPECT_THAT(Indices(graph), ElementsAre(1, 0));
}

TEST(SortNodesTest, ACycleIsRefusedWithANodeOfIt) {
  Graph graph = Make(3, {{{0, 2}, {1}}, {{1}, {2}}});
  EXPECT_THAT(SortNodes(graph), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("node 0 (Op) is part of")));
  Graph itself = Make(1, {{{0}, {0}}});
  EXPECT_THAT(SortNodes(itself), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SortNodesTest, AnyShuffleOfAChainIsRestored) {
  std::mt19937 random(7);
  std::vector<Edge> chain;
  for (ValueId i = 0; i < 50; ++i) chain.push_back({{i}, {i + 1}});
  for (int round = 0; round < 20; ++round) {
    std::vector<Edge> shuffled = chain;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    Graph graph = Make(51, shuffled);
    ASSERT_THAT(SortNodes(graph), IsOk());
    for (size_t i = 0; i < 50; ++i) {
      EXPECT_THAT(graph.nodes[i].inputs, ElementsAre(i));
    }
  }
}

TEST(DropUnusedTest, NodesGoWithTheirChains) {
  Graph graph = Make(5, {{{0}, {1}}, {{0}, {2}}, {{2}, {3}}, {{1}, {4}}});
  graph.inputs = {0};
  graph.outputs = {4};
  EXPECT_EQ(DropUnusedNodes(graph), 2);
  EXPECT_THAT(Indices(graph), ElementsAre(0, 3));
}

TEST(DropUnusedTest, ValuesAreRenumberedInOrder) {
  Graph graph = Make(5, {{{0, kNoValue}, {3}}});
  for (size_t i = 0; i < 5; ++i) {
    graph.values[i].name = std::string(1, static_cast<char>('a' + i));
  }
  graph.inputs = {0, 4};
  graph.outputs = {3};
  DropUnusedValues(graph);
  ASSERT_EQ(graph.values.size(), 3u);
  EXPECT_EQ(graph.values[1].name, "d");
  EXPECT_THAT(graph.inputs, ElementsAre(0, 2));
  EXPECT_THAT(graph.outputs, ElementsAre(1));
  EXPECT_THAT(graph.nodes[0].inputs, ElementsAre(0, kNoValue));
}

}  // namespace
}  // namespace reprise::graph
