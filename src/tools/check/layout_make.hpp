// SPDX-License-Identifier: BSD-2-Clause
// Random layouts: meshes of any rank order with ranks left out, every property, own cuts, uneven and
// empty parts, split orders, margins of every mode.
#pragma once

#include "tools/check/draw.hpp"
#include "tools/check/layout_spec.hpp"

namespace tenon::tools {

// A mesh of one to three axes on some of the ranks.
MeshSpec drawMesh(Draw& draw, int ranks);
Indices drawShape(Draw& draw, int minDims, int maxDims, int maxExtent);
// Without margins.
LayoutSpec drawLayout(Draw& draw, const Indices& shape, const MeshSpec& mesh);
// The same with nothing to be summed.
LayoutSpec drawValues(Draw& draw, const Indices& shape, const MeshSpec& mesh);
// Gives some dimensions, at least one, a margin, each with the given chance of addends.
LayoutSpec withMargins(Draw& draw, LayoutSpec spec, int addendPercent);
// Either, as a conversion may have it.
LayoutSpec drawAnyLayout(Draw& draw, const Indices& shape, const MeshSpec& mesh);
// Other properties for an axis or another order give a dimension new splits, balanced.
void resplit(LayoutSpec& spec, int dim);

} // namespace tenon::tools
