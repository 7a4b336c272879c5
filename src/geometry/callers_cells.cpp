// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/callers_cells.hpp"

namespace tenon {

Coverage besideCallers(const Margin& margin, Index extent, Interval box) {
  Interval others{0, box.size()};
  if (isCallers(margin.low))
    others.begin = std::clamp<Index>(-box.begin, 0, box.size());
  if (isCallers(margin.high))
    others.end = std::clamp<Index>(extent - box.begin, 0, box.size());
  return coverage({others}, {0, box.size()});
}

bool hasCallersSide(const Layout& layout) {
  for (int d = 0; d < layout.rank(); ++d)
    if (const auto& margin = layout.margin(d))
      if (isCallers(margin->low) || isCallers(margin->high))
        return true;
  return false;
}

std::vector<CellBox> callersCells(const Layout& layout, int position) {
  const Box held = layout.box(position);
  std::vector<Coverage> others;
  for (int d = 0; d < layout.rank(); ++d) {
    const auto& margin = layout.margin(d);
    const Interval all{0, held[d].size()};
    others.push_back(margin ? besideCallers(*margin, layout.shape()[d], held[d])
                            : coverage({all}, all));
  }
  return gapsOf(others);
}

Layout boundaryScalar(const Layout& layout) {
  Properties properties = layout.properties();
  for (Property& p : properties)
    if (p.isShard())
      p = Property::broadcast();
  return Layout({.shape = {1}, .mesh = layout.meshPtr(), .properties = std::move(properties)});
}

} // namespace tenon
