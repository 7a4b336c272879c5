// SPDX-License-Identifier: BSD-2-Clause
// The linear extension E of a dimension beyond its ends: which global index an element outside the
// domain copies. The adjoint of E adds the element's value to that index.
//
// Values that the user supplies outside the domain are not a function of the tensor inside: E gives
// zero there, and the user's values v are a second input, E x + M v, where M is the mask of those
// elements. In a corner, where an element is outside in several dimensions, each of them says where
// its own index goes; one that gives zero makes the element zero, and one on a side of mode Values
// makes it the user's.
//
// E has entries 0 and 1, and -1 where a field is odd about a wall: each bounce there changes the
// sign. In a corner signs multiply.
#pragma once

#include "geometry/layout/box.hpp"

#include <optional>
#include <string_view>

namespace tenon {

enum class Boundary {
  None,      // boxes are clipped to the domain
  Zero,      // elements outside are zero
  Periodic,  // ... n-2 n-1 | 0 1 ... n-1 | 0 1 ...
  Reflect,   // ... 2 1     | 0 1 ... n-1 | n-2 n-3 ...
  Replicate, // ... 0 0     | 0 1 ... n-1 | n-1 n-1 ...
  Values,    // supplied by the user; zero as far as E is concerned
  Symmetric, // ... 1 0     | 0 1 ... n-1 | n-1 n-2 ...: even about a wall between elements
  Odd,       // ... -1 -0   | 0 1 ... n-1 | -(n-1) -(n-2) ...: odd about a wall between elements
  // ... -2 -1 | 0 1 ... n-1 | -(n-2) -(n-3) ...: odd about the first and the last element.
  OddPoint,
  Linked, // copies that an index map fills, beyond a part's own elements; not a matter of E
};

inline constexpr int kBoundaries = 10;
// The modes before Linked: those of which a conversion knows what it fills halos with.
inline constexpr int kExtensions = 9;

const char* boundaryName(Boundary mode);
// Throws TENON_ERR_ARG, naming the word, if it is not a mode.
Boundary parseBoundary(std::string_view word);

// Whether the user supplies the elements beyond such a side. Code that fills a halo in place must
// leave them untouched.
inline bool isUsers(Boundary mode) {
  return mode == Boundary::Values;
}

// The boundary modes of a run of channels: it begins where the one before it ends, the first at 0.
struct ModeBand {
  Index end;
  Boundary low, high;
  bool operator==(const ModeBand&) const = default;
};

// The domain index whose value the element at `index` holds, or nothing for a zero.
std::optional<Index> extensionSource(Index index, Index extent, Boundary low, Boundary high);
// The factor of that value, 1 or -1.
int extensionSign(Index index, Index extent, Boundary low, Boundary high);

// A run of local elements local, local+1, ... that hold the global indices global, global+step,
// ..., all with one sign.
struct Segment {
  Index local;
  Index global;
  Index length;
  int step;     // +1 or -1
  int sign = 1; // likewise
};

// The elements of `box` that hold a domain index, as runs in local order.
std::vector<Segment> extensionSegments(Interval box, Index extent, Boundary low, Boundary high);

} // namespace tenon
