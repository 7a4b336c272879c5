// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/holding.hpp"

namespace tenon {

namespace {

bool sameProperties(const Layout& a, const Layout& b) {
  for (int axis = 0; axis < a.mesh().axes(); ++axis)
    if (a.mesh().extent(axis) > 1 && !(a.property(axis) == b.property(axis)))
      return false;
  return true;
}

std::vector<int> dividingAxes(const Layout& layout, int dim) {
  std::vector<int> axes = layout.splitAxes(dim);
  std::erase_if(axes, [&](int axis) { return layout.mesh().extent(axis) == 1; });
  return axes;
}

bool addsNothing(const Layout& layout, int dim) {
  if (!layout.margin(dim))
    return true;
  for (int part = 0; part < layout.parts(dim); ++part) {
    const Interval box = layout.box(dim, part), owned = layout.owned(dim, part);
    if (!(box == owned) && !(box.empty() && owned.empty()))
      return false;
  }
  return true;
}

bool sameParts(const Layout& a, const Layout& b, int dim) {
  return a.cuts(dim) == b.cuts(dim) && dividingAxes(a, dim) == dividingAxes(b, dim) &&
         (a.margin(dim) == b.margin(dim) || (addsNothing(a, dim) && addsNothing(b, dim)));
}

} // namespace

bool sameHolding(const Layout& a, const Layout& b) {
  if (a == b)
    return true;
  if (a.shape() != b.shape() || !(a.mesh() == b.mesh()) || !sameProperties(a, b))
    return false;
  for (int d = 0; d < a.rank(); ++d)
    if (!sameParts(a, b, d))
      return false;
  return true;
}

std::vector<Layout> stopsBetween(const Layout& from, const Layout& to) {
  std::vector<Layout> stops;
  const auto stopAt = [&](const Layout& next) {
    if (!sameHolding(stops.empty() ? from : stops.back(), next))
      stops.push_back(next);
  };
  if (!(from.mesh() == to.mesh())) {
    stopAt(from.withoutMargins());
    stopAt(to.withoutMargins());
  }
  stopAt(to);
  return stops;
}

} // namespace tenon
