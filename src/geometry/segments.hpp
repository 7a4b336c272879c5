// SPDX-License-Identifier: BSD-2-Clause
// What the parts of two layouts share along one dimension: runs of cells, their overlaps, and the parts
// that have any. Schedules (schedule.hpp) list it, counts (traffic.hpp) add it up.
#pragma once

#include "geometry/schedule.hpp"

namespace tenon {

// Whether the extension E fills the halo, or the adjoint folds it: G as a target, G* as a source.
bool isExtended(const Halo& halo, Role role);

// The runs of global indices that a part contributes in its role. G as a source and G* as a target
// count with their owned cells alone; the other two with the whole box under the extension.
std::vector<Segment> partSegments(const Layout& layout, int dim, int part, Role role);

Interval globalRange(const Segment& run);

// A run of cells along one dimension that a source part and a target part share.
struct Overlap {
  Index global, length;
  Index source, target;
  int sourceStep, targetStep;
};

// In rising global order.
std::vector<Overlap> overlaps(const std::vector<Segment>& sources,
                              const std::vector<Segment>& targets);
// The cells of all overlaps.
Index sharedCells(const std::vector<Segment>& some, const std::vector<Segment>& others);

// The parts that may share cells with some runs, in rising order, with few others: found by bisection,
// unless the boxes of a halo lie in no order.
std::vector<int> partsNear(const std::vector<Segment>& runs, const Layout& layout, int dim,
                           Role role);

} // namespace tenon
