// SPDX-License-Identifier: BSD-2-Clause
// Walks and sums along the middle dimension of arrays [outer, n, inner], beside arrays [outer,
// inner].
#pragma once

#include "kernels/walks/element_offsets.hpp"

namespace tenon::functors {

// What elements of a line share: of a functor with read(place in [outer, n, inner], place in
// [outer, inner]) alone no more than the latter, and otherwise f.line(the latter), whose read(the
// former) is the element's value.
template <class F>
struct LineOf {
  const F& f;
  Index of;
  TENON_DEVICE auto read(Index at) const { return f.read(at, of); }
};
template <class F>
TENON_DEVICE auto lineOf(const F& f, Index of) {
  if constexpr (requires { f.line(of); })
    return f.line(of);
  else
    return LineOf<F>{f, of};
}

// How many elements of a line a thread takes: more where they share much that is read.
template <class F>
inline constexpr int kStripOf = 4;
template <class F>
requires requires {
  F::kStrip;
}
inline constexpr int kStripOf<F> = F::kStrip;

// f.write(place, value) by strips of a line, so that a thread computes places once for several
// elements, reads once what they share, and waits for their loads together.
template <class F>
struct AlongAxis {
  static constexpr int kStrip = kStripOf<F>;
  Divisor perInner, perApart;
  std::uint32_t apart, n,
      inner; // apart: how many of the line are from one element of a strip to the next
  F f;

  AlongAxis(Index outer, Index extent, Index width, const F& of)
      : apart(static_cast<std::uint32_t>((extent + kStrip - 1) / kStrip)),
        n(static_cast<std::uint32_t>(extent)), inner(static_cast<std::uint32_t>(width)), f(of),
        strips_(outer * apart * width) {
    perInner = divisorOf(width);
    perApart = divisorOf(apart);
  }
  Index strips() const { return strips_; }

  TENON_DEVICE void operator()(Index i) const {
    auto outer = static_cast<std::uint32_t>(i);
    const std::uint32_t inside = inner > 1 ? perInner.divide(outer) : 0;
    const std::uint32_t before = perApart.divide(outer);
    const Index at = (outer * n + before) * inner + inside, of = outer * inner + inside,
                step = apart * inner;
    const auto line = lineOf(f, of);
    if (before + (kStrip - 1) * apart < n) {
      decltype(line.read(at)) values[kStrip];
      TENON_UNROLL
      for (int k = 0; k < kStrip; ++k)
        values[k] = line.read(at + k * step);
      TENON_UNROLL
      for (int k = 0; k < kStrip; ++k)
        f.write(at + k * step, values[k]);
    } else {
      TENON_KEEP_LOOP
      for (Index k = 0; before + k * apart < n; ++k)
        f.write(at + k * step, line.read(at + k * step));
    }
  }

private:
  Index strips_;
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
    TENON_DEVICE bool stays(int) const { return true; }
    TENON_DEVICE Index ahead(int count) const { return here + count * apart; }
    TENON_DEVICE void skip(int count) { here += count * apart; }
    TENON_DEVICE Wide at(Index place) const { return Wide(term(place, group)); }
  };
  TENON_DEVICE auto of(Index group, Index first, Index each) const {
    return Terms{term, group, groups(group).of[0] + first * step, each * step};
  }
};

} // namespace tenon::functors
