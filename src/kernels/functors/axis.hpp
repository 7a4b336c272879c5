// SPDX-License-Identifier: BSD-2-Clause
// Walks and sums along the middle dimension of arrays [outer, n, inner], beside arrays [outer, inner].
#pragma once

#include "kernels/walks/element_offsets.hpp"

namespace tenon::functors {

// f.write(place, f.read(place in [outer, n, inner], place in [outer, inner])) by element of the former.
template <class F>
struct AlongAxis {
  ElementOffsets<1> places; // in [outer, inner]
  F f;
  TENON_DEVICE auto read(Index i) const { return f.read(i, places(i).of[0]); }
  template <class Value>
  TENON_DEVICE void write(Index i, const Value& value) const {
    f.write(i, value);
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
  TENON_DEVICE Wide operator()(Index group, Index k) const {
    return Wide(term(groups(group).of[0] + k * step, group));
  }
};

} // namespace tenon::functors
