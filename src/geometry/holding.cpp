// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/holding.hpp"

namespace tenon {

namespace {

// The layout without what makes no difference to anybody's memory.
Layout bare(const Layout& layout) {
  LayoutSpec spec = layout.spec();
  for (int axis = 0; axis < spec.mesh->axes(); ++axis)
    if (spec.mesh->extent(axis) == 1)
      spec.properties[axis] = Property::broadcast();
  for (int d = 0; d < layout.rank(); ++d) {
    std::erase_if(spec.splitAxes[d], [&](int axis) { return spec.mesh->extent(axis) == 1; });
    bool margin = false;
    for (int part = 0; part < layout.parts(d); ++part)
      margin |= !(layout.box(d, part) == layout.owned(d, part)) &&
                !(layout.box(d, part).empty() && layout.owned(d, part).empty());
    if (!margin)
      spec.margins[d].reset();
  }
  return Layout(std::move(spec));
}

} // namespace

bool sameHolding(const Layout& a, const Layout& b) {
  return a == b || bare(a) == bare(b);
}

} // namespace tenon
