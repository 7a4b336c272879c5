// SPDX-License-Identifier: BSD-2-Clause
// The elements that parts of two layouts share along one dimension: runs of elements, their
// overlaps, and the parts that have overlaps. Schedules (schedule.hpp) list these runs, and counts
// (traffic.hpp, flow_count.hpp) add their lengths. For example, a source part has the indices [0,
// 4), and the periodic box [-1, 3) of a target part of extent 8 has two runs: local 0 is index 7,
// and local 1 to 3 are the indices 0 to 2. The overlap of both parts is one run of 3 elements:
// global 0, source 0, target 1.
#pragma once

#include "geometry/schedule/schedule.hpp"

namespace tenon {

// True if the extension E fills the halo (values G in a target), or the adjoint of E folds it
// (contributions G* in a source). E does not contain a linked halo, of which only the owned
// elements count.
bool isExtended(const Halo& halo, Role role);

// The runs of global indices of a part in its role:
//   halo of values (G) as a source, of contributions (G*) as a target   owned elements only
//   otherwise   the whole box, in which elements beyond the domain are mapped by the extension
std::vector<Segment> partSegments(const Layout& layout, int dim, int part, Role role);

// The smallest interval that contains the global indices of the run.
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

// All parts that share elements with the runs, and possibly some that do not, in increasing order.
// Found by bisection, unless the boxes of a halo are not in order.
std::vector<int> partsNear(const std::vector<Segment>& runs, const Layout& layout, int dim,
                           Role role);

} // namespace tenon
