// SPDX-License-Identifier: BSD-2-Clause
// Walks and sums along the middle dimension of arrays [outer, n, inner], beside arrays [outer, inner].
#pragma once

#include "kernels/walks/element_offsets.hpp"

namespace tenon::functors {

// f.write(place in [outer, n, inner], f.read(that, place in [outer, inner])) by up to four elements of a line, so that a
// thread computes places once for four elements, reads once what they share, and waits for their loads together.
template <class F>
struct AlongAxis {
  static constexpr int kStrip = 4;
  // By first element: its place in both, and how many of the line are before it.
  ElementOffsets<3> places;
  Index apart, n, inner; // apart: how many of the line are from one element to the next
  F f;
  TENON_DEVICE void operator()(Index i) const {
    const auto place = places(i);
    const Index at = place.of[0], of = place.of[1], before = place.of[2], step = apart * inner;
    if (before + (kStrip - 1) * apart < n) {
      decltype(f.read(at, of)) values[kStrip];
      TENON_UNROLL
      for (int k = 0; k < kStrip; ++k)
        values[k] = f.read(at + k * step, of);
      TENON_UNROLL
      for (int k = 0; k < kStrip; ++k)
        f.write(at + k * step, values[k]);
    } else {
      TENON_KEEP_LOOP
      for (Index k = 0; before + k * apart < n; ++k)
        f.write(at + k * step, f.read(at + k * step, of));
    }
  }
};

// The n terms of each element of [outer, inner], each term(place, place) as above.
template <class T, class Term>
struct AxisTerm {
  using Wide = T;
  ElementOffsets<1> groups; // in [outer, n, inner]
  Index step;
  Term term;
  // True if a sector of memory, of 32 bytes, holds only one float of a line.
  bool groupsAreCloser() const { return step >= 8; }
  struct Terms {
    const Term& term;
    Index group, here, apart;
    TENON_DEVICE Index next() {
      const Index now = here;
      here += apart;
      return now;
    }
    TENON_DEVICE Wide at(Index place) const { return Wide(term(place, group)); }
  };
  TENON_DEVICE auto of(Index group, Index first, Index each) const {
    return Terms{term, group, groups(group).of[0] + first * step, each * step};
  }
};

} // namespace tenon::functors
