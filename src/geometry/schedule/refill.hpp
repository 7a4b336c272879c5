// SPDX-License-Identifier: BSD-2-Clause
// Refill: each rank fills the halo elements beyond the ends of the domain from elements that it has
// already, without messages.
//
// A layer can compute, in addition to the elements that its rank owns, the neighbours' elements
// that the next layer reads. Its output then has a layout `from` with overlapping boxes, in which
// all elements within the domain are correct. The next layer can read a layout `to` with the same
// cuts (split points), whose boxes also extend beyond the domain. By the boundary mode
// (boundary.hpp), an element there is a copy of an element within the domain, which the rank may
// have. For example, 8 elements on 2 ranks with the mode Replicate:
//
//   global index     -1 |  0  1  2  3  4  5  6  7 |  8
//   rank 0 owns         |  0  1  2  3             |
//          from         |  0  1  2  3  4          |        4 is overlap, computed by both ranks
//          to         0 |  0  1  2  3  4          |        -1 is a copy of 0
//   rank 1 owns         |              4  5  6  7 |
//          from         |           3  4  5  6  7 |
//          to           |           3  4  5  6  7 |  7     8 is a copy of 7
//
// makeRefill() in schedule.hpp makes the schedule, and RefillOp executes it. The transpose adds
// the contribution of -1 to the contribution of 0, and leaves contributions in the overlap where
// they are: a later conversion from dual(from) sends them to their owners. If a layer also computes
// elements beyond the domain, `from` has them; they are copied if `from` and `to` have the same
// mode on that side.
#pragma once

#include "geometry/schedule/segments.hpp"

namespace tenon {

// The source side: one run of all elements in the box of a part. Other than in partSegments(), an
// element beyond the domain has its own global index, such as -1, because it is copied itself
// instead of the element within the domain that it repeats.
std::vector<Segment> heldSegments(const Layout& layout, int dim, int part);

// The target side: the elements in the box of a part of `to`, as runs of the elements of `from`
// that they copy. For rank 0 above: -1 from 0, then 0 to 4 from themselves.
std::vector<Segment> refilledSegments(const Layout& from, const Layout& to, int dim, int part);

// True if each rank has in `from` all elements needed to fill `to`. This requires:
//   - both layouts are equal without their halos
//   - their halos are of values (G), not of contributions (G*)
//   - on each side on which `to` reads beyond the domain, `from` has the mode of `to`, or
//     Boundary::None
//   - where the user supplies the elements beyond a side, or it is a pole, `from` has them all
// Every rank gets the same result.
bool canRefill(const Layout& from, const Layout& to);

} // namespace tenon
