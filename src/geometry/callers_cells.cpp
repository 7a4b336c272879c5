// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/callers_cells.hpp"

namespace tenon {

namespace {

// The caller's cells along one dimension lie at the ends of the box, with the others between.
struct Ends {
  Interval low, between, high;
};

Ends endsOf(Interval box, Index extent, const Margin& margin) {
  const Index begin = isCallers(margin.low) ? std::clamp<Index>(0, box.begin, box.end) : box.begin;
  const Index end = isCallers(margin.high) ? std::clamp(extent, begin, box.end) : box.end;
  return {
      {0, begin - box.begin}, {begin - box.begin, end - box.begin}, {end - box.begin, box.size()}};
}

} // namespace

bool hasCallersSide(const Layout& layout) {
  for (int d = 0; d < layout.rank(); ++d)
    if (const auto& margin = layout.margin(d))
      if (isCallers(margin->low) || isCallers(margin->high))
        return true;
  return false;
}

// Dimension by dimension: the ends are the caller's whatever the later dimensions say, and of the
// cells between them the later dimensions decide.
std::vector<Box> callersCells(const Layout& layout, int position) {
  std::vector<Box> found;
  const Box held = layout.box(position);
  Box rest;
  for (const Interval& side : held)
    rest.push_back({0, side.size()});
  for (int d = 0; d < layout.rank() && cells(rest) > 0; ++d) {
    const auto& margin = layout.margin(d);
    if (!margin)
      continue;
    const Ends ends = endsOf(held[d], layout.shape()[d], *margin);
    for (const Interval& end : {ends.low, ends.high}) {
      Box box = rest;
      box[d] = end;
      if (!end.empty())
        found.push_back(std::move(box));
    }
    rest[d] = ends.between;
  }
  return found;
}

} // namespace tenon
