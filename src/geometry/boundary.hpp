// SPDX-License-Identifier: BSD-2-Clause
// The linear extension E of a dimension beyond its ends: which global index a cell outside the
// domain copies. Its adjoint adds the cell's value to that index.
#pragma once

#include "geometry/box.hpp"

#include <optional>

namespace tenon {

enum class Boundary {
  None,      // boxes are clipped to the domain
  Zero,      // cells outside are zero
  Periodic,  // ... n-2 n-1 | 0 1 ... n-1 | 0 1 ...
  Reflect,   // ... 2 1     | 0 1 ... n-1 | n-2 n-3 ...
  Replicate, // ... 0 0     | 0 1 ... n-1 | n-1 n-1 ...
};

const char* boundaryName(Boundary mode);

// The domain index whose value the cell at `index` holds, or nothing for a zero.
std::optional<Index> extensionSource(Index index, Index extent, Boundary low, Boundary high);

// A run of local cells local, local+1, ... that hold global indices global, global+step, ...
struct Segment {
  Index local;
  Index global;
  Index length;
  int step; // +1 or -1
};

// The cells of `box` that hold some domain index, as runs in local order.
std::vector<Segment> extensionSegments(Interval box, Index extent, Boundary low, Boundary high);

} // namespace tenon
