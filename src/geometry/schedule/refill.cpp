// SPDX-License-Identifier: BSD-2-Clause
// Finds, along one dimension, from which elements of the same rank a halo is filled (refill.hpp has
// an example). The box of the target consists of three ranges:
//
//   below the shared range | shared with the source's box | above the shared range
//   by the boundary mode   | copied index by index        | by the boundary mode
//
// "By the boundary mode" also holds for elements within the domain that `from` does not have: there
// the extension of the mode is the element itself, and canRefill() returns false.
// canRefill() checks that all these source elements are in the rank's own box. If boundary modes
// differ by channel, it checks one run of channels with equal modes at a time.
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

// The range in which both boxes of a part have the same elements. Beyond the domain an element of
// the source can be copied only if it was made with the boundary mode of the target.
Interval sharedBox(const Layout& from, const Layout& to, int dim, int part) {
  const Interval sourceBox = from.box(dim, part), targetBox = to.box(dim, part);
  Interval sameValues{0, to.shape()[dim]};
  if (lowMode(from, dim) == lowMode(to, dim))
    sameValues.begin = std::min(sameValues.begin, sourceBox.begin);
  if (highMode(from, dim) == highMode(to, dim))
    sameValues.end = std::max(sameValues.end, sourceBox.end);
  return intersect(intersect(sourceBox, targetBox), sameValues);
}

// Appends the runs that fill a range of the box of a part of `to`, by the boundary modes. The
// local positions of the runs are counted from the begin of that box.
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

// The checks of canRefill() for one part of one dimension.
bool canRefill(const Layout& from, const Layout& to, int dim, int part) {
  const Interval sourceBox = from.box(dim, part), targetBox = to.box(dim, part);
  if (targetBox.empty())
    return true;
  // The user's values cannot be computed at all. Rows beyond a pole cannot be computed along one
  // dimension, since their longitudes are shifted. Both must therefore be in `from`, with the same
  // mode and, at a pole, with the same dimension of longitudes. All other modes can be computed
  // here. `from` must then have the same mode, or none: a halo that it has out there by another
  // mode would contain other values.
  const auto& source = from.halo(dim);
  const auto& target = to.halo(dim);
  const bool haveSamePoles = source && target && source->longitudes == target->longitudes;
  const auto canFillSide = [=](Boundary sourceMode, Boundary targetMode, bool isPresent) {
    if (isPole(targetMode) && !haveSamePoles)
      return false;
    return isUserSupplied(targetMode) || isPole(targetMode)
               ? sourceMode == targetMode && isPresent
               : sourceMode == targetMode || sourceMode == Boundary::None;
  };
  if (targetBox.begin < 0 &&
      !canFillSide(lowMode(from, dim), lowMode(to, dim), sourceBox.begin <= targetBox.begin))
    return false;
  if (targetBox.end > to.shape()[dim] &&
      !canFillSide(highMode(from, dim), highMode(to, dim), sourceBox.end >= targetBox.end))
    return false;
  return std::ranges::all_of(refilledSegments(from, to, dim, part), [&](const Segment& run) {
    const Interval range = globalRange(run);
    return intersect(range, sourceBox) == range;
  });
}

} // namespace

// The source side of the schedule, see refill.hpp.
std::vector<Segment> heldSegments(const Layout& layout, int dim, int part) {
  const Interval box = layout.box(dim, part);
  if (box.empty())
    return {};
  return {{.local = 0, .global = box.begin, .length = box.size(), .step = 1}};
}

std::vector<Segment> refilledSegments(const Layout& from, const Layout& to, int dim, int part) {
  const Interval targetBox = to.box(dim, part), shared = sharedBox(from, to, dim, part);
  std::vector<Segment> runs;
  if (shared.empty()) {
    addExtension(to, dim, part, targetBox, runs);
    return runs;
  }
  addExtension(to, dim, part, {targetBox.begin, shared.begin}, runs);
  runs.push_back({.local = shared.begin - targetBox.begin,
                  .global = shared.begin,
                  .length = shared.size(),
                  .step = 1});
  addExtension(to, dim, part, {shared.end, targetBox.end}, runs);
  return runs;
}

bool canRefill(const Layout& from, const Layout& to) {
  if (!(from.withoutHalos() == to.withoutHalos()) || from.hasLinkedHalos() || to.hasLinkedHalos())
    return false;
  for (int d = 0; d < to.ndim(); ++d)
    for (const Layout* layout : {&from, &to})
      if (layout->halo(d) && layout->halo(d)->isPartial)
        return false;
  // forEachChannelRun() cannot restrict a channel dimension that has a halo.
  if ((from.hasModesByChannel() || to.hasModesByChannel()) &&
      (from.halo(kChannelDim) || to.halo(kChannelDim)))
    return false;
  bool isPossible = true;
  forEachChannelRun(from, to, [&](const Layout& source, const Layout& target, const Interval*) {
    for (int d = 0; d < to.ndim(); ++d)
      for (int part = 0; part < to.parts(d); ++part)
        isPossible = isPossible && canRefill(source, target, d, part);
  });
  return isPossible;
}

} // namespace tenon
