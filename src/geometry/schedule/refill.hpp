// SPDX-License-Identifier: BSD-2-Clause
// A halo that each rank fills from its own elements, without messages. Elements in the domain are
// already present, since a layer has computed them in addition to its own; elements beyond the
// domain are the extension of present elements by the boundary mode. schedule.hpp makes the
// schedule; its transpose adds the values beyond the domain to the elements that they were computed
// from.
//
// If two layouts have the same boundary mode on a side, elements beyond it are the same in both.
#pragma once

#include "geometry/schedule/segments.hpp"

namespace tenon {

// The run of all elements in the box of a part, with elements beyond the domain by their own
// indices.
std::vector<Segment> heldSegments(const Layout& layout, int dim, int part);

// The elements in the box of a part of `to`, as runs of the elements of `from` that they copy.
std::vector<Segment> refilledSegments(const Layout& from, const Layout& to, int dim, int part);

// True if each rank has in `from` all elements needed to fill `to`: both have the same cuts and
// hold values, and beyond each side `from` has either no elements or the same as `to`.
bool canRefill(const Layout& from, const Layout& to);

} // namespace tenon
