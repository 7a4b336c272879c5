// SPDX-License-Identifier: BSD-2-Clause
// Boundary modes: the linear extension E of a dimension beyond its ends, that is, the global index
// that an element outside the domain copies. The adjoint of E adds the element's value to that
// index.
//
// Values that the user supplies outside the domain are not a function of the tensor: E is zero at
// these elements, and the user's values v are a second input, E x + M v, with the mask M of these
// elements. At a corner an element is outside in several dimensions, and each dimension determines
// its source index separately. The element is the user's if a dimension is on a side of mode
// Values; otherwise it is zero if a dimension gives zero.
//
// E has entries 0 and 1, and -1 where a field is odd about a wall: each reflection at the wall
// changes the sign. At a corner the signs multiply. For example, extent 4 with the modes Periodic
// (low) and Reflect (high): the elements -1, 0, 1, 2, 3, 4 copy the indices 3, 0, 1, 2, 3, 2.
//
// At a pole of a globe the dimension is that of the latitudes. Beyond the pole the same rows follow
// in reverse, on the opposite meridian: the row index is reflected, and the longitude increases by
// half of their number, which Halo::longitudes (layout.hpp) names. These modes alone couple two
// dimensions; an element with an odd number of crossings has this shift. Both components of a
// vector along latitude and longitude change their sign with each crossing.
#pragma once

#include "geometry/layout/box.hpp"

#include <iterator>
#include <optional>
#include <string_view>

namespace tenon {

enum class Boundary {
  None,      // No halo outside: boxes are clipped to the domain.
  Zero,      // Elements outside are zero.
  Periodic,  // ... n-2 n-1 | 0 1 ... n-1 | 0 1 ...
  Reflect,   // ... 2 1     | 0 1 ... n-1 | n-2 n-3 ...
  Replicate, // ... 0 0     | 0 1 ... n-1 | n-1 n-1 ...
  Values,    // Supplied by the user; zero in E.
  Symmetric, // ... 1 0     | 0 1 ... n-1 | n-1 n-2 ...: even about a wall between elements
  Odd,       // ... -1 -0   | 0 1 ... n-1 | -(n-1) -(n-2) ...: odd about a wall between elements
  // ... -2 -1 | 0 1 ... n-1 | -(n-2) -(n-3) ...: odd about the first and the last element.
  OddPoint,
  Linked, // Copies that an index map fills, beyond the elements of a part; not part of E.
  // Rows, with N/2 added to the longitude x after an odd number of crossings:
  Pole,            // ... 1 0 | 0 1 ... n-1 | n-1 n-2 ...: the pole is between two rows
  PolePoint,       // ... 2 1 | 0 1 ... n-1 | n-2 n-3 ...: the first (last) row is the pole
  PoleVector,      // Pole for a component of a vector: ... -1 -0 | 0 1 ...
  PolePointVector, // PolePoint for a component of a vector: ... -2 -1 | 0 1 ...
};

inline constexpr int kBoundaries = 14; // Number of modes.
// The modes whose halos a conversion can fill, dimension by dimension.
inline constexpr Boundary kExtensions[] = {
    Boundary::None,      Boundary::Zero,      Boundary::Periodic,
    Boundary::Reflect,   Boundary::Replicate, Boundary::Values,
    Boundary::Symmetric, Boundary::Odd,       Boundary::OddPoint};
inline constexpr int kExtensionCount = static_cast<int>(std::size(kExtensions));

const char* boundaryName(Boundary mode);
// Throws TENON_ERR_ARG with the word if it is not a mode.
Boundary parseBoundary(std::string_view word);

// True if the user supplies the elements beyond a side with this mode. Code that fills a halo in
// place must not change them.
inline bool isUserSupplied(Boundary mode) {
  return mode == Boundary::Values;
}

// True if the dimension continues beyond a pole on a side with this mode.
inline bool isPole(Boundary mode) {
  return mode >= Boundary::Pole && mode <= Boundary::PolePointVector;
}
// The mode of the components of a vector where scalars have `mode`.
Boundary vectorMode(Boundary mode);

// The boundary modes of a run of channels [previous end, end); the first run begins at 0.
struct ModeBand {
  Index end;
  Boundary low, high;
  bool operator==(const ModeBand&) const = default;
};

// The domain index that the element at `index` copies, or nothing for a zero.
std::optional<Index> extensionSource(Index index, Index extent, Boundary low, Boundary high);
// The factor of that value, 1 or -1.
int extensionSign(Index index, Index extent, Boundary low, Boundary high);
// True if the way to the element crosses poles an odd number of times.
bool crossesPole(Index index, Index extent, Boundary low, Boundary high);

// A run of local elements local, local+1, ... that copy the global indices global, global+step,
// ..., with the same sign.
struct Segment {
  Index local;
  Index global;
  Index length;
  int step;             // +1 or -1
  int sign = 1;         // 1 or -1.
  bool crossed = false; // By crossesPole().
};

// The elements of `box` that copy a domain index, as runs in local order.
std::vector<Segment> extensionSegments(Interval box, Index extent, Boundary low, Boundary high);

} // namespace tenon
