// SPDX-License-Identifier: BSD-2-Clause
// Along one dimension the box of the target is its intersection with the source's box, and the rest
// on either side, whose elements are found by the boundary mode. Modes by channel are processed one
// run of channels at a time.
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

// The range in which both boxes of a part have the same elements.
Interval sharedBox(const Layout& from, const Layout& to, int dim, int part) {
  const Interval sourceBox = from.box(dim, part), targetBox = to.box(dim, part);
  Interval valid{0, to.shape()[dim]};
  if (lowMode(from, dim) == lowMode(to, dim))
    valid.begin = std::min(valid.begin, sourceBox.begin);
  if (highMode(from, dim) == highMode(to, dim))
    valid.end = std::max(valid.end, sourceBox.end);
  return intersect(intersect(sourceBox, targetBox), valid);
}

// Appends the runs of a range of the box of a part of `to`, by the boundary modes.
void addExtension(const Layout& to, int dim, int part, Interval range, std::vector<Segment>& runs) {
  if (range.empty())
    return;
  const Index offset = range.begin - to.box(dim, part).begin;
  for (Segment run :
       extensionSegments(range, to.shape()[dim], lowMode(to, dim), highMode(to, dim))) {
    run.local += offset;
    runs.push_back(run);
  }
}

bool canRefill(const Layout& from, const Layout& to, int dim, int part) {
  const Interval sourceBox = from.box(dim, part), targetBox = to.box(dim, part);
  if (targetBox.empty())
    return true;
  // The user's values cannot be computed from elements in the domain, so `from` must have them.
  const auto agrees = [](Boundary sourceMode, Boundary targetMode, bool isPresent) {
    return isUserSupplied(targetMode) ? sourceMode == targetMode && isPresent
                                      : sourceMode == targetMode || sourceMode == Boundary::None;
  };
  if (targetBox.begin < 0 &&
      !agrees(lowMode(from, dim), lowMode(to, dim), sourceBox.begin <= targetBox.begin))
    return false;
  if (targetBox.end > to.shape()[dim] &&
      !agrees(highMode(from, dim), highMode(to, dim), sourceBox.end >= targetBox.end))
    return false;
  return std::ranges::all_of(refilledSegments(from, to, dim, part), [&](const Segment& run) {
    const Interval range = globalRange(run);
    return intersect(range, sourceBox) == range;
  });
}

} // namespace

std::vector<Segment> heldSegments(const Layout& layout, int dim, int part) {
  const Interval box = layout.box(dim, part);
  return box.empty() ? std::vector<Segment>() : std::vector<Segment>{{0, box.begin, box.size(), 1}};
}

std::vector<Segment> refilledSegments(const Layout& from, const Layout& to, int dim, int part) {
  const Interval targetBox = to.box(dim, part), shared = sharedBox(from, to, dim, part);
  std::vector<Segment> runs;
  if (shared.empty()) {
    addExtension(to, dim, part, targetBox, runs);
    return runs;
  }
  addExtension(to, dim, part, {targetBox.begin, shared.begin}, runs);
  runs.push_back({shared.begin - targetBox.begin, shared.begin, shared.size(), 1});
  addExtension(to, dim, part, {shared.end, targetBox.end}, runs);
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
  bool isPossible = true;
  forEachChannelRun(from, to, [&](const Layout& source, const Layout& target, const Interval*) {
    for (int d = 0; d < to.rank(); ++d)
      for (int part = 0; part < to.parts(d); ++part)
        isPossible = isPossible && canRefill(source, target, d, part);
  });
  return isPossible;
}

} // namespace tenon
