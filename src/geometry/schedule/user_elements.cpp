// SPDX-License-Identifier: BSD-2-Clause
// Finds the halo elements that the user supplies, by their complement. An element is supplied by
// the user if it is beyond a side of mode Values in some dimension, so the other elements are a
// product of intervals, whose complement gapsOf() lists.
#include "geometry/schedule/user_elements.hpp"

#include "geometry/layout/channel_runs.hpp"

#include <algorithm>

namespace tenon {

Coverage besideUsers(const Halo& halo, Index extent, Interval box) {
  Interval notSupplied{0, box.size()};
  if (isUserSupplied(halo.low))
    notSupplied.begin = std::clamp<Index>(-box.begin, 0, box.size());
  if (isUserSupplied(halo.high))
    notSupplied.end = std::clamp<Index>(extent - box.begin, 0, box.size());
  return coverage({notSupplied}, {0, box.size()});
}

bool hasUserSide(const Layout& layout) {
  for (int d = 0; d < layout.ndim(); ++d)
    if (const auto& halo = layout.halo(d))
      if (isUserSupplied(halo->low) || isUserSupplied(halo->high) ||
          std::ranges::any_of(halo->bands, [](const ModeBand& band) {
            return isUserSupplied(band.low) || isUserSupplied(band.high);
          }))
        return true;
  return false;
}

std::vector<ElementBox> userElements(const Layout& layout, int position) {
  const Box box = layout.box(position);
  std::vector<ElementBox> boxes;
  forEachChannelRun(layout, layout, [&](const Layout& uniform, const Layout&, const Interval* run) {
    std::vector<Coverage> notSupplied;
    for (int d = 0; d < uniform.ndim(); ++d) {
      const auto& halo = uniform.halo(d);
      const Interval range =
          run && d == kChannelDim ? localChannels(*run, box[d]) : Interval{0, box[d].size()};
      notSupplied.push_back(halo ? besideUsers(*halo, uniform.shape()[d], box[d])
                                 : coverage({range}, range));
    }
    const std::vector<ElementBox> supplied = gapsOf(notSupplied);
    boxes.insert(boxes.end(), supplied.begin(), supplied.end());
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
