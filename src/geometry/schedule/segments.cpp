// SPDX-License-Identifier: BSD-2-Clause
// Runs of elements, their overlaps, and the parts near a run, along one dimension. A run (Segment)
// is a list of consecutive local elements whose global indices have a constant step. partsNear()
// finds the parts that can overlap a run by bisection in the boundaries of the parts, so the work
// does not grow linearly with the size of the grid. It can find too many parts, whose overlaps are
// then empty, but never too few.
#include "geometry/schedule/segments.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>

namespace tenon {

namespace {

// The local index of an element of a run.
Index localOf(const Segment& run, Index global) {
  return run.local + (global - run.global) * run.step;
}

// The runs of an interval of longitudes whose first element is local element `local`. Each element
// copies the element `shift` further on, periodically: half of the circle, beyond a pole (Halo).
std::vector<Segment> shifted(Interval range, Index local, Index extent, Index shift) {
  std::vector<Segment> runs = extensionSegments({range.begin + shift, range.end + shift}, extent,
                                                Boundary::Periodic, Boundary::Periodic);
  for (Segment& run : runs)
    run.local += local;
  return runs;
}

} // namespace

bool isExtended(const Halo& halo, Role role) {
  return (role == Role::Source) == halo.isPartial && !halo.isLinked();
}

std::vector<Segment> partSegments(const Layout& layout, int dim, int part, Role role) {
  const Interval owned = layout.owned(dim, part);
  const auto& halo = layout.halo(dim);
  if (!halo)
    return owned.empty()
               ? std::vector<Segment>{}
               : std::vector<Segment>{
                     {.local = 0, .global = owned.begin, .length = owned.size(), .step = 1}};
  const Interval box = halo->boxes[part];
  const Index extent = layout.shape()[dim];
  if (isExtended(*halo, role)) {
    if (halo->shift != 0)
      return shifted(box, 0, extent, halo->shift);
    std::vector<Segment> runs = extensionSegments(box, extent, halo->low, halo->high);
    // In a term of a layout at its poles, only the rows of this term count.
    if (halo->crossed)
      std::erase_if(runs, [&](const Segment& run) { return run.crossed != *halo->crossed; });
    return runs;
  }
  const Interval common = intersect(box, owned);
  if (common.empty())
    return {};
  if (halo->shift != 0)
    return shifted(common, common.begin - box.begin, extent, halo->shift);
  return {{.local = common.begin - box.begin,
           .global = common.begin,
           .length = common.size(),
           .step = 1}};
}

Interval globalRange(const Segment& run) {
  return run.step > 0 ? Interval{run.global, run.global + run.length}
                      : Interval{run.global - run.length + 1, run.global + 1};
}

std::vector<Overlap> overlaps(const std::vector<Segment>& sources,
                              const std::vector<Segment>& targets) {
  std::vector<Overlap> result;
  for (const Segment& s : sources)
    for (const Segment& t : targets) {
      const Interval shared = intersect(globalRange(s), globalRange(t));
      if (!shared.empty())
        result.push_back({.global = shared.begin,
                          .length = shared.size(),
                          .source = localOf(s, shared.begin),
                          .target = localOf(t, shared.begin),
                          .sourceStep = s.step,
                          .targetStep = t.step,
                          .sign = s.sign * t.sign});
    }
  std::sort(result.begin(), result.end(), [](const Overlap& x, const Overlap& y) {
    // Both sides of a message must list their overlaps in the same order, so ties are broken too.
    return std::tie(x.global, x.source, x.target) < std::tie(y.global, y.source, y.target);
  });
  return result;
}

Index sharedElements(const std::vector<Segment>& some, const std::vector<Segment>& others) {
  Index sum = 0;
  for (const Segment& s : some)
    for (const Segment& o : others)
      sum += intersect(globalRange(s), globalRange(o)).size();
  return sum;
}

std::vector<int> partsNear(const std::vector<Segment>& runs, const Layout& layout, int dim,
                           Role role) {
  const int parts = layout.parts(dim);
  const auto& halo = layout.halo(dim);
  const bool extended = halo && isExtended(*halo, role);
  std::vector<int> near;
  const auto addParts = [&](int first, int last) {
    for (int part = first; part < last; ++part)
      near.push_back(part);
  };
  // User boxes in arbitrary order cannot be bisected; every part is a candidate.
  if (extended && !layout.boxesRise(dim)) {
    addParts(0, parts);
    return near;
  }
  const auto intervalOf = [&](int part) {
    return extended ? halo->boxes[part] : layout.owned(dim, part);
  };
  const auto countWhile = [&](auto&& holds) {
    const auto range = std::views::iota(0, parts);
    return static_cast<int>(
        std::ranges::partition_point(range, [&](int part) { return holds(intervalOf(part)); }) -
        range.begin());
  };
  const auto addAlong = [&](Interval range) {
    addParts(countWhile([&](Interval i) { return i.end <= range.begin; }),
             countWhile([&](Interval i) { return i.begin < range.end; }));
  };
  for (const Segment& run : runs) {
    const Interval range = globalRange(run);
    if (!halo || halo->shift == 0) {
      addAlong(range);
      continue;
    }
    // The run's elements copy or are copied by elements half of the longitudes away. The shifted
    // range can leave the domain at either end, and then continues at the other one; it is searched
    // in both directions, since half a period forwards and backwards is the same place.
    for (const Index shift : {-halo->shift, halo->shift})
      addAlong({range.begin + shift, range.end + shift});
  }
  // A box that extends beyond the domain can contain any index, by the extension of its boundary.
  // Such boxes are the first and the last ones.
  if (extended) {
    addParts(0, countWhile([](Interval i) { return i.begin < 0; }));
    addParts(countWhile([&](Interval i) { return i.end <= layout.shape()[dim]; }), parts);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  return near;
}

} // namespace tenon
