// SPDX-License-Identifier: BSD-2-Clause
// Which layouts are one in memory. Layouts compare without axes of one process already; here halos that add nothing to
// what a rank owns do not count either.
#include "geometry/holding.hpp"

namespace tenon {

namespace {

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

Layout withoutIdleMargins(const Layout& layout) {
  if (!layout.hasMargins())
    return layout;
  LayoutSpec spec = layout.spec();
  for (int d = 0; d < layout.rank(); ++d)
    if (addsNothing(layout, d))
      spec.margins[d].reset();
  return Layout(std::move(spec));
}

} // namespace

bool sameHolding(const Layout& a, const Layout& b) {
  return a == b || ((a.hasMargins() || b.hasMargins()) && a.shape() == b.shape() &&
                    withoutIdleMargins(a) == withoutIdleMargins(b));
}

std::vector<Layout> stopsBetween(const Layout& from, const Layout& to) {
  if (sameHolding(from, to))
    return {};
  std::vector<Layout> stops;
  const auto stopAt = [&](const Layout& next) {
    const Layout& last = stops.empty() ? from : stops.back();
    if (!sameHolding(last, next) || !(last.mesh() == next.mesh()))
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
