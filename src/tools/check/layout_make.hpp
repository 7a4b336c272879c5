// SPDX-License-Identifier: BSD-2-Clause
// Random layouts: grids of any rank order with ranks left out, every property, own cuts, uneven and
// empty parts, split orders, halos of every mode.
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
// Gives some dimensions, at least one, a halo, each with the given chance of contributions.
LayoutSpec withHalos(Draw& draw, LayoutSpec spec, int partialPercent);
// Draws a layout with halos or without, as a conversion may have it.
LayoutSpec drawAnyLayout(Draw& draw, const Indices& shape, const GridSpec& grid);
// Gives a dimension new, balanced splits, after the properties of axes were changed.
void resplit(LayoutSpec& spec, int dim);

} // namespace tenon::tools
