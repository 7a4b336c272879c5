// SPDX-License-Identifier: BSD-2-Clause
// Finds the halo elements whose values the user supplies, by their complement. An element is the
// user's as soon as one dimension says so, hence the others are a product of intervals, and
// gapsOf() lists what a product leaves uncovered.
#include "geometry/schedule/user_elements.hpp"

#include "geometry/layout/channel_runs.hpp"

#include <algorithm>

namespace tenon {

Coverage besideUsers(const Halo& halo, Index extent, Interval box) {
  Interval others{0, box.size()};
  if (isUsers(halo.low))
    others.begin = std::clamp<Index>(-box.begin, 0, box.size());
  if (isUsers(halo.high))
    others.end = std::clamp<Index>(extent - box.begin, 0, box.size());
  return coverage({others}, {0, box.size()});
}

bool hasUserSide(const Layout& layout) {
  for (int d = 0; d < layout.rank(); ++d)
    if (const auto& halo = layout.halo(d))
      if (isUsers(halo->low) || isUsers(halo->high) ||
          std::ranges::any_of(halo->bands, [](const ModeBand& band) {
            return isUsers(band.low) || isUsers(band.high);
          }))
        return true;
  return false;
}

std::vector<ElementBox> userElements(const Layout& layout, int position) {
  const Box held = layout.box(position);
  std::vector<ElementBox> boxes;
  forEachChannelRun(layout, layout, [&](const Layout& uniform, const Layout&, const Interval* run) {
    std::vector<Coverage> others;
    for (int d = 0; d < uniform.rank(); ++d) {
      const auto& halo = uniform.halo(d);
      const Interval all =
          run && d == kChannelDim ? localChannels(*run, held[d]) : Interval{0, held[d].size()};
      others.push_back(halo ? besideUsers(*halo, uniform.shape()[d], held[d])
                            : coverage({all}, all));
    }
    const std::vector<ElementBox> more = gapsOf(others);
    boxes.insert(boxes.end(), more.begin(), more.end());
  });
  return boxes;
}

Layout boundaryScalar(const Layout& layout) {
  Properties properties = layout.properties();
  for (Property& p : properties)
    if (p.isShard())
      p = Property::broadcast();
  return Layout({.shape = {1}, .grid = layout.gridPtr(), .properties = std::move(properties)});
}

} // namespace tenon
