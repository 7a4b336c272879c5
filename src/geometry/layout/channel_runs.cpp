// SPDX-License-Identifier: BSD-2-Clause
// Divides channels where a mode of either layout changes. Both sides of a conversion know both
// layouts, so they list the same runs in the same order.
#include "geometry/layout/channel_runs.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <set>

namespace tenon {

void forEachChannelRun(
    const Layout& from, const Layout& to,
    const std::function<void(const Layout&, const Layout&, const Interval* run)>& f) {
  if (!from.hasModesByChannel() && !to.hasModesByChannel())
    return f(from, to, nullptr);
  std::set<Index> ends;
  for (const Layout* layout : {&from, &to}) {
    if (layout->halo(kChannelDim))
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("a conversion with boundary modes by channel cannot have halos of "
                              "channels too: from {} to {}; drop one of them first",
                              from.describe(), to.describe()));
    for (int d = 0; d < layout->rank(); ++d)
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

Interval localChannels(const Interval& run, const Interval& part) {
  const Interval common = intersect(run, part);
  return common.empty() ? Interval{} : Interval{common.begin - part.begin, common.end - part.begin};
}

} // namespace tenon
