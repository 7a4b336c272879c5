// SPDX-License-Identifier: BSD-2-Clause
// Reductions on the device. Groups of n terms each are reduced in pieces, each by lanes of one block in a tree of
// fixed shape, or where n is small by one thread in order; the number of pieces follows from the sizes
// alone, so that the bits are the same on every device.
//
// A Term has a type Wide in which it is reduced, and f(group, i) gives term i of a group. If neighbouring
// groups may be closer in memory than neighbouring terms, f.groupsAreCloser() says whether they are.
// use(place, value) is what becomes of a value, where the place is first that of [group, piece].
#pragma once

#include "kernels/functors/operations.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/walks.hpp"

#include <bit>
#include <cmath>
#include <type_traits>

namespace tenon::functors {

// How a block is divided: 2^bits lanes for the terms of each of its groups. Neighbouring threads read what is
// closest in memory: terms, or groups if isAcross is 1.
struct BlockShape {
  unsigned bits, isAcross;

  static constexpr unsigned kMostBits = std::bit_width(device::kThreads) - 1;
  static_assert(device::kThreads == 1u << kMostBits);

  TENON_DEVICE unsigned lanes() const { return 1u << bits; }
  TENON_DEVICE unsigned groups() const { return device::kThreads >> bits; }
  TENON_DEVICE unsigned lane(unsigned thread) const {
    return isAcross ? thread >> (kMostBits - bits) : thread & (lanes() - 1);
  }
  TENON_DEVICE unsigned group(unsigned thread) const {
    return isAcross ? thread & (groups() - 1) : thread >> bits;
  }
  TENON_DEVICE unsigned nextLane() const { return isAcross ? groups() : 1; } // in threads
};

template <class Op, class Term, class Use>
struct GroupTrees {
  using Wide = typename Term::Wide;
  struct Shared {
    Wide lane[device::kThreads];
  };
  Term term;
  Use use;
  Wide neutral;
  BlockShape shape;
  unsigned pieces, groups;
  Index n, length;

  // One phase that fills the lanes, and others that halve them.
  TENON_DEVICE int phases() const { return 1 + int(shape.bits); }
  TENON_DEVICE void operator()(int phase, const Place& p, Shared& shared) const {
    const unsigned lane = shape.lane(p.thread);
    const Index group = Index(p.block / pieces) * shape.groups() + shape.group(p.thread);
    const Index piece = p.block % pieces;
    if (phase == 0) {
      shared.lane[p.thread] = group < groups ? sumOf(group, piece * length, lane) : neutral;
      return;
    }
    const unsigned half = shape.lanes() >> phase;
    if (lane < half)
      shared.lane[p.thread] =
          Op{}(shared.lane[p.thread], shared.lane[p.thread + half * shape.nextLane()]);
    if (half == 1 && lane == 0 && group < groups)
      use(group * pieces + piece, shared.lane[p.thread]);
  }

private:
  // Four terms at a time, so that their loads are waited for together.
  TENON_DEVICE Wide sumOf(Index group, Index begin, unsigned lane) const {
    const Op op;
    const Index step = shape.lanes();
    const Index end = begin + length < n ? begin + length : n;
    const auto at = [&](Index i) { return i < end ? term(group, i) : neutral; };
    Wide all = neutral;
    for (Index i = begin + lane; i < end; i += 4 * step) {
      const Wide first = at(i), second = at(i + step), third = at(i + 2 * step),
                 fourth = at(i + 3 * step);
      all = op(op(op(op(all, first), second), third), fourth);
    }
    return all;
  }
};

// The reduction of short groups, by one thread each.
template <class Op, class Term, class Use>
struct GroupLoops {
  using Wide = typename Term::Wide;
  Term term;
  Use use;
  Wide neutral;
  Index n;

  TENON_DEVICE void operator()(Index group) const {
    Wide all = neutral;
    for (Index i = 0; i < n; ++i)
      all = Op{}(all, term(group, i));
    use(group, all);
  }
};

// The pieces of groups as the terms of a second reduction.
template <class W>
struct PieceTerm {
  using Wide = W;
  const Wide* values;
  Index pieces;
  TENON_DEVICE Wide operator()(Index group, Index i) const { return values[group * pieces + i]; }
};

// A use of a group's value: y[group] = value.
template <class T, class Wide>
struct StoreGroup {
  T* y;
  TENON_DEVICE void operator()(Index group, Wide value) const { y[group] = T(value); }
};

// x y of two boxes; x alone if y is null.
template <class T>
struct DotTerm {
  using Wide = double;
  ElementOffsets<2> offsets;
  const T *x, *y;
  TENON_DEVICE double operator()(Index, Index i) const {
    const auto at = offsets(i);
    return double(x[at.of[0]]) * (y ? double(y[at.of[1]]) : 1.0);
  }
};

// |x| of a box.
template <class T>
struct SizeTerm {
  using Wide = double;
  ElementOffsets<2> offsets;
  const T* x;
  TENON_DEVICE double operator()(Index, Index i) const {
    return std::abs(double(x[offsets(i).of[0]]));
  }
};

// a x, for a group of y's box `written` and a term of the box `summed`; x alone if a is null.
template <class T>
struct ProductTerm {
  using Wide = std::conditional_t<std::is_integral_v<T>, T, double>;
  ElementOffsets<2> written, summed; // offsets in a and x
  Index areColumns;                  // 1 if the closest elements of the box are of different y
  const T *a, *x;
  bool groupsAreCloser() const { return areColumns == 1; }
  TENON_DEVICE Wide operator()(Index group, Index i) const {
    const auto at = written(group), more = summed(i);
    const Wide value = x[at.of[1] + more.of[1]];
    return a ? Wide(a[at.of[0] + more.of[0]]) * value : value;
  }
};
// y[element] += alpha value
template <class T, class Wide>
struct AddToElement {
  ElementOffsets<1> offsets;
  T alpha;
  T* y;
  TENON_DEVICE void operator()(Index group, Wide value) const {
    y[offsets(group).of[0]] += T(alpha * T(value));
  }
};

// y += alpha a x, of three boxes; a null stands for ones.
template <class T>
struct MultiplyAddElements {
  ElementOffsets<3> offsets;
  T alpha;
  const T *a, *x;
  T* y;
  TENON_DEVICE void operator()(Index i) const {
    const auto at = offsets(i);
    y[at.of[2]] += alpha * (a ? a[at.of[0]] : T(1)) * x[at.of[1]];
  }
};

} // namespace tenon::functors
