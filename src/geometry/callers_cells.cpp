// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/callers_cells.hpp"

namespace tenon {

namespace {

// Along one dimension the caller's cells lie at the ends of the box; what is between them.
Interval between(Interval box, Index extent, const Margin& margin) {
  const Index begin = isCallers(margin.low) ? std::clamp<Index>(0, box.begin, box.end) : box.begin;
  const Index end = isCallers(margin.high) ? std::clamp(extent, begin, box.end) : box.end;
  return {begin - box.begin, end - box.begin};
}

} // namespace

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
    others.push_back(
        coverage({margin ? between(held[d], layout.shape()[d], *margin) : all}, all.size()));
  }
  return gapsOf(others, extents(held));
}

} // namespace tenon
