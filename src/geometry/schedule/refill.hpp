// SPDX-License-Identifier: BSD-2-Clause
// A halo that each rank fills from what it holds itself, without a message: cells within the domain
// are there already, as a layer has computed them beside its own, and cells beyond it are the
// boundary's extension of cells that are there. The schedule of it is in schedule.hpp; its
// transpose adds what lies beyond the domain to the cells that it was made from.
//
// Where two layouts have one boundary mode on a side, what lies beyond it is the same in both.
#pragma once

#include "geometry/schedule/segments.hpp"

namespace tenon {

// The run of all that a part holds of a layout, the cells beyond the domain by their own indices.
std::vector<Segment> heldSegments(const Layout& layout, int dim, int part);

// What a part holds of `to`, by the elements of `from` that it is made from.
std::vector<Segment> refilledSegments(const Layout& from, const Layout& to, int dim, int part);

// Whether each rank has in `from` what it takes to fill `to`: both are cut alike and hold values,
// and beyond each side `from` has nothing, or what `to` has there.
bool canRefill(const Layout& from, const Layout& to);

} // namespace tenon
