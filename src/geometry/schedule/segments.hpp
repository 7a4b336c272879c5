// SPDX-License-Identifier: BSD-2-Clause
// What the parts of two layouts share along one dimension: runs of elements, their overlaps, and
// the parts that have any. Schedules (schedule.hpp) list it, counts (traffic.hpp) add it up.
#pragma once

#include "geometry/schedule/schedule.hpp"

namespace tenon {

// Whether the extension E fills the halo, or the adjoint folds it: G as a target, G* as a source. A
// linked halo is no matter of E: there the owned elements alone count.
bool isExtended(const Halo& halo, Role role);

// The runs of global indices that a part contributes in its role. G as a source and G* as a target
// count with their owned elements alone; the other two with the whole box under the extension.
std::vector<Segment> partSegments(const Layout& layout, int dim, int part, Role role);

Interval globalRange(const Segment& run);

// A run of elements along one dimension that a source part and a target part share.
struct Overlap {
  Index global, length;
  Index source, target;
  int sourceStep, targetStep;
  int sign; // of the source's elements at the target
};

// All overlaps of two sets of runs, in rising global order.
std::vector<Overlap> overlaps(const std::vector<Segment>& sources,
                              const std::vector<Segment>& targets);
// The number of elements in all overlaps.
Index sharedElements(const std::vector<Segment>& some, const std::vector<Segment>& others);

// The parts that can share elements with some runs, and few others, in rising order. They are found
// by bisection, unless the boxes of a halo are in no order.
std::vector<int> partsNear(const std::vector<Segment>& runs, const Layout& layout, int dim,
                           Role role);

} // namespace tenon
