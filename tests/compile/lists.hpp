// SPDX-License-Identifier: BSD-2-Clause
// Small map lists of layers, built by hand, for the tests of the module `compile`.
#pragma once

#include "declaration/core/pass.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tenon::test {

// 8 elements on 2 ranks: split, or with copies.
inline Layout splitLine() {
  return Layout({.shape = {8}, .grid = Grid::make({2}), .properties = {Property::shard(0)}});
}
inline Layout copiedLine() {
  return Layout({.shape = {8}, .grid = Grid::make({2}), .properties = {Property::broadcast()}});
}

// A layer with one kernel, y = kernel(x), which reads x in the layout `use`.
inline MapList layerList(const std::string& name, const Layout& use, const Layout& output) {
  MapList list;
  const ValueId x = list.input("x", splitLine());
  list.output("y", output);
  const ValueId read = use == splitLine() ? list.staged(x) : list.convert("u", x, use);
  const ValueId y = list.stagedOutput();
  list.run({.name = name, .savesInputs = true}, {read}, y);
  list.unstage(y);
  return list;
}

// y = a + b, element by element.
inline MapList sumList(const Layout& layout) {
  MapList list;
  const ValueId a = list.input("a", layout), b = list.input("b", layout);
  list.output("y", layout);
  const ValueId y = list.stagedOutput();
  list.run({.name = "sum"}, {list.staged(a), list.staged(b)}, y);
  list.unstage(y);
  return list;
}

// The number of maps of a kind.
inline int countOf(const MapList& list, Map::Kind kind) {
  return static_cast<int>(std::ranges::count(list.maps(), kind, &Map::kind));
}

} // namespace tenon::test
