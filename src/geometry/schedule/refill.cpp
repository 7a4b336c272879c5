// SPDX-License-Identifier: BSD-2-Clause
// Along one dimension a target's box is what it shares with the source's, and the rest on either
// side, of which each element is found by the boundary mode. Modes by channel come here one run of
// channels after the other.
#include "geometry/schedule/refill.hpp"

#include "geometry/layout/channel_runs.hpp"

#include <algorithm>

namespace tenon {

namespace {

Boundary lowMode(const Layout& layout, int dim) {
  return layout.halo(dim) ? layout.halo(dim)->low : Boundary::None;
}

Boundary highMode(const Layout& layout, int dim) {
  return layout.halo(dim) ? layout.halo(dim)->high : Boundary::None;
}

// What both boxes of a part hold as it is.
Interval sharedBox(const Layout& from, const Layout& to, int dim, int part) {
  const Interval has = from.box(dim, part), needs = to.box(dim, part);
  Interval valid{0, to.shape()[dim]};
  if (lowMode(from, dim) == lowMode(to, dim))
    valid.begin = std::min(valid.begin, has.begin);
  if (highMode(from, dim) == highMode(to, dim))
    valid.end = std::max(valid.end, has.end);
  return intersect(intersect(has, needs), valid);
}

// The runs of [begin, end) in the box of a part of `to`, by the boundary modes.
void addExtension(const Layout& to, int dim, int part, Interval range, std::vector<Segment>& runs) {
  if (range.empty())
    return;
  const Index before = range.begin - to.box(dim, part).begin;
  for (Segment run :
       extensionSegments(range, to.shape()[dim], lowMode(to, dim), highMode(to, dim))) {
    run.local += before;
    runs.push_back(run);
  }
}

bool canRefill(const Layout& from, const Layout& to, int dim, int part) {
  const Interval has = from.box(dim, part), needs = to.box(dim, part);
  if (needs.empty())
    return true;
  // What callers fill comes from them alone: no cell within the domain gives it.
  const auto agrees = [](Boundary its, Boundary wanted, bool isThere) {
    return isUsers(wanted) ? its == wanted && isThere : its == wanted || its == Boundary::None;
  };
  if (needs.begin < 0 && !agrees(lowMode(from, dim), lowMode(to, dim), has.begin <= needs.begin))
    return false;
  if (needs.end > to.shape()[dim] &&
      !agrees(highMode(from, dim), highMode(to, dim), has.end >= needs.end))
    return false;
  return std::ranges::all_of(refilledSegments(from, to, dim, part), [&](const Segment& run) {
    const Interval range = globalRange(run);
    return intersect(range, has) == range;
  });
}

} // namespace

std::vector<Segment> heldSegments(const Layout& layout, int dim, int part) {
  const Interval box = layout.box(dim, part);
  return box.empty() ? std::vector<Segment>() : std::vector<Segment>{{0, box.begin, box.size(), 1}};
}

std::vector<Segment> refilledSegments(const Layout& from, const Layout& to, int dim, int part) {
  const Interval needs = to.box(dim, part), shared = sharedBox(from, to, dim, part);
  std::vector<Segment> runs;
  if (shared.empty()) {
    addExtension(to, dim, part, needs, runs);
    return runs;
  }
  addExtension(to, dim, part, {needs.begin, shared.begin}, runs);
  runs.push_back({shared.begin - needs.begin, shared.begin, shared.size(), 1});
  addExtension(to, dim, part, {shared.end, needs.end}, runs);
  return runs;
}

bool canRefill(const Layout& from, const Layout& to) {
  if (!(from.withoutHalos() == to.withoutHalos()) || from.hasLinkedHalos() || to.hasLinkedHalos())
    return false;
  for (int d = 0; d < to.rank(); ++d)
    for (const Layout* layout : {&from, &to})
      if (layout->halo(d) && layout->halo(d)->isPartial)
        return false;
  if ((from.hasModesByChannel() || to.hasModesByChannel()) &&
      (from.halo(kChannelDim) || to.halo(kChannelDim)))
    return false;
  bool can = true;
  forEachChannelRun(from, to, [&](const Layout& source, const Layout& target, const Interval*) {
    for (int d = 0; d < to.rank(); ++d)
      for (int part = 0; part < to.parts(d); ++part)
        can = can && canRefill(source, target, d, part);
  });
  return can;
}

} // namespace tenon
