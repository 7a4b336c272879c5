// SPDX-License-Identifier: BSD-2-Clause
// Joining the map lists of the nodes of a network. The joined lists are compared with what the
// definition says: which values nodes read and write, and which objects they share.
#include "compile/program/joined_maps.hpp"
#include "lists.hpp"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

const Map& kernelOfNode(const MapList& list, int node) {
  return *std::ranges::find_if(list.maps(), [&](const Map& map) {
    return map.kind == Map::Kind::Kernel && map.node == node;
  });
}

// x -> f -> g -> y: f writes what g reads, and g writes the user's tensor.
TEST(JoinedMaps, ChainReadsWhatWasWritten) {
  const MapList f = layerList("f", splitLine(), splitLine()),
                g = layerList("g", splitLine(), splitLine());
  const JoinedMaps joined =
      joinMaps({{&f, {0}}, {&g, {1}}}, {splitLine(), splitLine(), splitLine()}, {2});
  const MapList& list = joined.list;
  EXPECT_EQ(list.nodes(), 2);
  ASSERT_EQ(countOf(list, Map::Kind::Kernel), 2);
  EXPECT_EQ(kernelOfNode(list, 1).x, std::vector<ValueId>{kernelOfNode(list, 0).y});
  // f's output is a value of the library and contiguous: no copies around it.
  EXPECT_EQ(list.values()[kernelOfNode(list, 0).y].place, Value::Place::Own);
  EXPECT_EQ(joined.first[1].kernels, 1);
}

// The output of f is an output of the network and read by g: the library's tensor is copied to the
// user's, and the adjoint adds the cotangents of both readers.
TEST(JoinedMaps, OutputThatIsReadIsCopied) {
  const MapList f = layerList("f", splitLine(), splitLine()),
                g = layerList("g", splitLine(), splitLine());
  const Layouts values = {splitLine(), splitLine(), splitLine()};
  const MapList list = joinMaps({{&f, {0}}, {&g, {1}}}, values, {1, 2}).list;
  ASSERT_EQ(list.outputs().size(), 2U);
  const auto copy = std::ranges::find_if(list.maps(), [&](const Map& map) {
    return map.y == list.outputs()[0] && map.kind == Map::Kind::Stage;
  });
  ASSERT_NE(copy, list.maps().end());
  EXPECT_EQ(copy->x.front(), kernelOfNode(list, 0).y);
  const auto adds = [](const Pass& pass) {
    return std::ranges::count(pass.steps, Do::Add, &Step::what);
  };
  EXPECT_GT(adds(adjointPass(list, {true, true, true})), 0);
}

// One layer in two nodes has one kernel, which two maps run.
TEST(JoinedMaps, LayerOfTwoNodesHasOneSetOfObjects) {
  const MapList f = layerList("f", copiedLine(), splitLine());
  const JoinedMaps joined =
      joinMaps({{&f, {0}}, {&f, {1}, /*sameAs=*/0}}, {splitLine(), splitLine(), splitLine()}, {2});
  EXPECT_EQ(joined.list.kernels().size(), 1U);
  EXPECT_EQ(joined.list.operators().size(), 1U);
  EXPECT_EQ(countOf(joined.list, Map::Kind::Kernel), 2);
  EXPECT_EQ(countOf(joined.list, Map::Kind::Operator), 2);
}

} // namespace
} // namespace tenon::test
