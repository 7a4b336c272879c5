// SPDX-License-Identifier: BSD-2-Clause
// Divides channels where a mode of either layout changes, and conversions into terms at poles. Both
// sides of a conversion know both layouts, so they list the same runs and terms in the same order.
// Layout::withModesOf() is declared in layout.hpp.
#include "geometry/layout/channel_runs.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tenon {

Layout Layout::withModesOf(Index channel) const {
  if (!hasModesByChannel())
    return *this;
  Data data = *data_;
  for (MarginPtr& margin : data.margins) {
    if (!margin->halo || margin->halo->bands.empty())
      continue;
    const Halo& halo = *margin->halo;
    const auto band = std::ranges::upper_bound(halo.bands, channel, {}, &ModeBand::end);
    margin = shared(Margin(Halo{.boxes = halo.boxes,
                                .low = band->low,
                                .high = band->high,
                                .isPartial = halo.isPartial,
                                .longitudes = halo.longitudes}));
  }
  return Layout(std::make_shared<const Data>(std::move(data)));
}

void forEachChannelRun(
    const Layout& from, const Layout& to,
    const std::function<void(const Layout&, const Layout&, const Interval* run)>& f) {
  if (!from.hasModesByChannel() && !to.hasModesByChannel())
    return f(from, to, nullptr);
  std::set<Index> ends;
  for (const Layout* layout : {&from, &to}) {
    const auto areLongitudes = [&](int d) {
      return layout->halo(d) && layout->halo(d)->longitudes == kChannelDim;
    };
    bool isExtended = layout->halo(kChannelDim).has_value();
    for (int d = 0; d < layout->ndim(); ++d)
      isExtended = isExtended || areLongitudes(d);
    if (isExtended)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("a conversion with boundary modes by channel cannot have halos of "
                              "channels too, or longitudes in their dimension: from {} to {}; drop "
                              "one of them first",
                              from.describe(), to.describe()));
    for (int d = 0; d < layout->ndim(); ++d)
      if (const auto& halo = layout->halo(d))
        for (const ModeBand& band : halo->bands)
          ends.insert(band.end);
  }
  Index begin = 0;
  for (const Index end : ends) {
    const Interval run{begin, end};
    f(from.withModesOf(begin), to.withModesOf(begin), &run);
    begin = end;
  }
}

void forEachPoleTerm(const Layout& from, const Layout& to,
                     const std::function<void(const Layout&, const Layout&)>& f) {
  // Halos of contributions are folded in a source, and those of values filled in a target.
  const bool atSource = from.hasPole(/*isPartial=*/true), atTarget = to.hasPole(false);
  for (int s = 0; s <= int(atSource); ++s)
    for (int t = 0; t <= int(atTarget); ++t)
      f(atSource ? from.withPoleTerm(s != 0) : from, atTarget ? to.withPoleTerm(t != 0) : to);
}

bool isOneProduct(const Layout& from, const Layout& to) {
  return !from.hasModesByChannel() && !to.hasModesByChannel() && !from.hasPole(true) &&
         !to.hasPole(false);
}

Interval localChannels(const Interval& run, const Interval& part) {
  const Interval common = intersect(run, part);
  return common.empty() ? Interval{} : Interval{common.begin - part.begin, common.end - part.begin};
}

} // namespace tenon
