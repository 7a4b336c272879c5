// SPDX-License-Identifier: BSD-2-Clause
// Random layouts: grids with any rank order and unused ranks, every property, explicit split
// points, uneven and empty parts, split orders, halos of every mode.
#pragma once

#include "tools/check/draw.hpp"
#include "tools/check/layout_spec.hpp"

namespace tenon::tools {

// A grid of one to three axes on some of the ranks.
GridSpec drawGrid(Draw& draw, int ranks);
Indices drawShape(Draw& draw, int minDims, int maxDims, int maxExtent);
// Draws a layout without halos.
LayoutSpec drawLayout(Draw& draw, const Indices& shape, const GridSpec& grid);
// Draws a layout without halos and without partial sums.
LayoutSpec drawValues(Draw& draw, const Indices& shape, const GridSpec& grid);
// Adds halos to some dimensions, at least one, each a halo of contributions with the given chance.
LayoutSpec withHalos(Draw& draw, LayoutSpec spec, int partialPercent);
// Draws a layout with or without halos, as for a conversion.
LayoutSpec drawAnyLayout(Draw& draw, const Indices& shape, const GridSpec& grid);
// Recomputes the even split of a dimension after the properties of axes have changed.
void resplit(LayoutSpec& spec, int dim);

} // namespace tenon::tools
