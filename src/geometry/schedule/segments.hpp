// SPDX-License-Identifier: BSD-2-Clause
// The elements that parts of two layouts share along one dimension: runs of elements, their
// overlaps, and the parts that have overlaps. Used by schedules (schedule.hpp) to list them, and by
// counts (traffic.hpp). For example, a source part has the indices [0, 4), and the periodic box
// [-1, 3) of a target part of extent 8 has two runs: local 0 is index 7, and local 1 to 3 are the
// indices 0 to 2. The overlap of both parts is one run of 3 elements: global 0, source 0, target 1.
#pragma once

#include "geometry/schedule/schedule.hpp"

namespace tenon {

// True if the extension E fills the halo, or its adjoint folds it: G as a target, G* as a source. A
// linked halo is not part of E, so only its owned elements count.
bool isExtended(const Halo& halo, Role role);

// The runs of global indices of a part in its role. For G as a source and G* as a target, only
// owned elements; otherwise the whole box, with elements beyond the domain mapped by the extension.
std::vector<Segment> partSegments(const Layout& layout, int dim, int part, Role role);

Interval globalRange(const Segment& run);

// A run of elements along one dimension that a source part and a target part share: the first
// global index, the number of elements, and the first local index on both sides.
struct Overlap {
  Index global, length;
  Index source, target;
  int sourceStep, targetStep;
  int sign; // Factor of the source's elements at the target.
};

// All overlaps of two sets of runs, in increasing global order.
std::vector<Overlap> overlaps(const std::vector<Segment>& sources,
                              const std::vector<Segment>& targets);
// The number of elements in all overlaps.
Index sharedElements(const std::vector<Segment>& some, const std::vector<Segment>& others);

// The parts that can share elements with some runs, and few others, in increasing order. Found by
// bisection, unless the boxes of a halo are not in order.
std::vector<int> partsNear(const std::vector<Segment>& runs, const Layout& layout, int dim,
                           Role role);

} // namespace tenon
