// SPDX-License-Identifier: BSD-2-Clause
// Elementwise kernels and sums along the middle dimension of arrays [outer, n, inner], combined
// with arrays [outer, inner] of one element per line, on the device. A line is the n elements that
// differ only in the middle index. Example: y[o,k,i] = x[o,k,i] / s[o,i], a quotient in which the
// elements of a line share s. AlongAxis applies a functor f to each element; AxisTerm are the terms
// of a sum over each line (functors/reduce.hpp).
#pragma once

#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/slices.hpp"

namespace tenon::functors {

// Values that the elements of a line share. A functor f has either read(index in [outer, n, inner],
// index in [outer, inner]), or line(index in [outer, inner]), which loads the shared values once
// and returns an object with read(index in [outer, n, inner]).
template <class F>
struct LineOf {
  const F& f;
  Index line;
  TENON_DEVICE auto read(Index element) const { return f.read(element, line); }
};
template <class F>
TENON_DEVICE auto lineOf(const F& f, Index line) {
  if constexpr (requires { f.line(line); })
    return f.line(line);
  else
    return LineOf<F>{f, line};
}

// Number of elements of a line per thread: more if the elements share many loads.
template <class F>
inline constexpr int kStripOf = 4;
template <class F>
requires requires {
  F::kStrip;
}
inline constexpr int kStripOf<F> = F::kStrip;

// Applies f.write(index, value) to all elements, one strip of a line per thread: the thread
// computes indices once for several elements, loads shared values once, and overlaps the loads of
// the elements.
template <class F>
struct AlongAxis {
  static constexpr int kStrip = kStripOf<F>;
  Divisor perInner, perDistance;
  // A strip is kStrip elements of a line, `distance` elements from each other. With n = 8 and
  // kStrip = 4 there are 2 strips: the elements 0, 2, 4, 6 and 1, 3, 5, 7.
  std::uint32_t distance, n, inner;
  // The first element and line of the slice, and the strides of its dimensions in the whole array.
  Index firstElement, firstLine, outerStride, lineStride;
  F f;

  AlongAxis(const AxisShape& whole, const AxisSlice& slice, const F& functor)
      : distance(static_cast<std::uint32_t>((slice.shape.n + kStrip - 1) / kStrip)),
        n(static_cast<std::uint32_t>(slice.shape.n)),
        inner(static_cast<std::uint32_t>(slice.shape.inner)), firstElement(slice.firstElement),
        firstLine(slice.firstLine), outerStride(whole.n * whole.inner), lineStride(whole.inner),
        f(functor), strips_(slice.shape.outer * distance * slice.shape.inner) {
    perInner = divisorOf(slice.shape.inner);
    perDistance = divisorOf(distance);
  }
  Index strips() const { return strips_; }

  TENON_DEVICE void operator()(Index i) const {
    auto outer = static_cast<std::uint32_t>(i);
    const std::uint32_t innerIndex = inner > 1 ? perInner.divide(outer) : 0;
    const std::uint32_t position = perDistance.divide(outer); // of the first element in the line
    const Index first = firstElement + outer * outerStride + position * lineStride + innerIndex;
    const Index lineIndex = firstLine + outer * lineStride + innerIndex;
    const Index step = distance * lineStride;
    const auto line = lineOf(f, lineIndex);
    if (position + (kStrip - 1) * distance < n) {
      decltype(line.read(first)) values[kStrip];
      TENON_UNROLL
      for (int k = 0; k < kStrip; ++k)
        values[k] = line.read(first + k * step);
      TENON_UNROLL
      for (int k = 0; k < kStrip; ++k)
        f.write(first + k * step, values[k]);
    } else {
      TENON_KEEP_LOOP
      for (Index k = 0; position + k * distance < n; ++k)
        f.write(first + k * step, line.read(first + k * step));
    }
  }

private:
  Index strips_;
};

// The n terms of each element of [outer, inner]: term(index in [outer, n, inner], index in [outer,
// inner]).
template <class T, class Term>
struct AxisTerm {
  using Wide = T;
  ElementOffsets<1> groups; // offsets in [outer, n, inner]
  Index step, firstElement, firstGroup;
  Term term;
  // True if a memory sector (32 bytes) holds only one float of a line.
  bool groupsAreCloser() const { return step >= 8; }
  struct Terms {
    const Term& term;
    Index group, position, stride;
    TENON_DEVICE Index next() {
      const Index current = position;
      position += stride;
      return current;
    }
    TENON_DEVICE bool stays(int) const { return true; }
    TENON_DEVICE Index ahead(int count) const { return position + count * stride; }
    TENON_DEVICE void skip(int count) { position += count * stride; }
    TENON_DEVICE Wide at(Index element) const { return Wide(term(element, group)); }
  };
  TENON_DEVICE auto of(Index group, Index first, Index each) const {
    return Terms{term, firstGroup + group, firstElement + groups(group).of[0] + first * step,
                 each * step};
  }
};

} // namespace tenon::functors
