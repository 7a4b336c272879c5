// SPDX-License-Identifier: BSD-2-Clause
// Rewrites of a joined list: what they remove, what they leave, and that the joined list itself
// stays as it was.
#include "compile/program/joined_maps.hpp"
#include "compile/program/rewriting.hpp"
#include "lists.hpp"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

// f and g read copies of x, h reads x as it is, and y = (f + g) + h.
MapList projections() {
  const MapList f = layerList("f", copiedLine(), splitLine()),
                g = layerList("g", copiedLine(), splitLine()),
                h = layerList("h", splitLine(), splitLine()), sum = sumList(splitLine());
  return joinMaps({{&f, {0}}, {&g, {0}}, {&h, {0}}, {&sum, {1, 2}}, {&sum, {4, 3}, /*sameAs=*/3}},
                  Layouts(6, splitLine()), {5})
      .list;
}

TEST(Rewriting, EqualMovesOfOneValueAreOne) {
  const MapList joined = projections();
  ASSERT_EQ(countOf(joined, Map::Kind::Operator), 2);
  const MapList list = rewritten(joined, {}, /*savesRounded=*/false);
  EXPECT_EQ(countOf(joined, Map::Kind::Operator), 2) << "the joined list was changed";
  ASSERT_EQ(countOf(list, Map::Kind::Operator), 1);
  // Both kernels read the value that the first move writes, in all passes.
  const auto move = std::ranges::find(list.maps(), Map::Kind::Operator, &Map::kind);
  int readers = 0;
  for (const Map& map : list.maps())
    readers += std::ranges::count(map.x, move->y) > 0;
  EXPECT_EQ(readers, 2);
  const auto moves = [](const Pass& pass) {
    return std::ranges::count_if(pass.steps, [](const Step& step) {
      return step.what == Do::Begin || step.what == Do::Apply;
    });
  };
  EXPECT_EQ(moves(applyPass(list)), 1);
  EXPECT_EQ(moves(tangentPass(list, {true})), 1);
  EXPECT_EQ(moves(adjointPass(list, {true})), 1);
}

// Moves to other layouts, of other values, or whose result has a second writer, stay.
TEST(Rewriting, OtherMovesStay) {
  MapList list;
  const ValueId x = list.input("x", splitLine()), z = list.input("z", splitLine());
  list.output("y", copiedLine());
  Layout balanced({.shape = {8},
                   .grid = Grid::make({2}),
                   .properties = {Property::shard(0)},
                   .cuts = {{0, 3, 8}}});
  const ValueId a = list.convert("a", x, copiedLine()), b = list.convert("b", z, copiedLine()),
                c = list.convert("c", x, balanced), d = list.value("d", copiedLine());
  list.run({.name = "part"}, {a}, d);
  list.apply(OperatorKind::Conversion, x, d);
  const ValueId y = list.stagedOutput();
  list.run({.name = "last"}, {a, b, c, d}, y);
  list.unstage(y);
  EXPECT_EQ(countOf(rewritten(list, {}, false), Map::Kind::Operator),
            countOf(list, Map::Kind::Operator));
}

// A rewritten list must not be joined: another network would get the changed one.
TEST(Rewriting, RewrittenListIsNotJoined) {
  const MapList list = rewritten(projections(), {}, false);
  EXPECT_THROW(joinMaps({{&list, {0}}}, Layouts(2, splitLine()), {1}), Error);
}

} // namespace
} // namespace tenon::test
