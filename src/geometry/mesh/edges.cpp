// SPDX-License-Identifier: BSD-2-Clause
// The text of the edges, and layouts of rows: a pattern with further dimensions after it. These are
// not divided, so a row is contiguous in memory.
#include "geometry/mesh/edges.hpp"

#include <fmt/format.h>

namespace tenon {

std::string Edges::describe() const {
  const auto nodes = [](const End& end) {
    return fmt::format("{} nodes{}", end.nodes->from().shape()[0],
                       end.isOwned ? "" : " and ghosts");
  };
  return fmt::format("{} edges from {} to {}", pattern_.shape()[0], nodes(source_), nodes(target_));
}

Layout rowsLayout(const Layout& pattern, const Shape& trailing) {
  LayoutSpec spec = pattern.spec();
  spec.shape.insert(spec.shape.end(), trailing.begin(), trailing.end());
  spec.splitAxes.resize(spec.shape.size());
  spec.cuts.resize(spec.shape.size());
  spec.halos.resize(spec.shape.size());
  return Layout(std::move(spec));
}

} // namespace tenon
