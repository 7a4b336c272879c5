// SPDX-License-Identifier: BSD-2-Clause
// The linear extension E of a dimension beyond its ends: which global index a cell outside the
// domain copies. Its adjoint adds the cell's value to that index.
//
// What a caller supplies outside the domain is no function of the tensor inside: E gives zero there,
// and the caller's values v are a second input, E x + M v with M the mask of those cells. Where a
// cell lies outside in several dimensions (a corner), each of them says where its own index goes;
// one that gives zero makes the cell zero, and one on the caller's side makes it the caller's.
#pragma once

#include "geometry/box.hpp"

#include <optional>
#include <string_view>

namespace tenon {

enum class Boundary {
  None,      // boxes are clipped to the domain
  Zero,      // cells outside are zero
  Periodic,  // ... n-2 n-1 | 0 1 ... n-1 | 0 1 ...
  Reflect,   // ... 2 1     | 0 1 ... n-1 | n-2 n-3 ...
  Replicate, // ... 0 0     | 0 1 ... n-1 | n-1 n-1 ...
  Values,    // the caller's; zero as far as E is concerned
};

inline constexpr int kBoundaries = 6;

const char* boundaryName(Boundary mode);
// Throws TENON_ERR_ARG with the word.
Boundary parseBoundary(std::string_view word);

// Whether cells outside are the caller's: whoever fills a halo in place leaves them untouched.
inline bool isCallers(Boundary mode) {
  return mode == Boundary::Values;
}

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
