// SPDX-License-Identifier: BSD-2-Clause
// Reductions on the device. Groups of n terms each are reduced in pieces, each by one block in a tree of
// fixed shape, or where n is small by one thread in order; the number of pieces follows from the sizes
// alone, so that the bits are the same on every device.
//
// A Term has a type Wide in which it is reduced, and f(group, i) gives term i of a group.
#pragma once

#include "kernels/cells.hpp"
#include "kernels/functors/operations.hpp"
#include "kernels/walks.hpp"

#include <cmath>

namespace tenon::functors {

// One block for each piece of each group: to[group, piece].
template <class Op, class Term>
struct GroupTrees {
  using Wide = typename Term::Wide;
  static constexpr unsigned kThreads = device::kThreads;
  static constexpr int kPhases = 9; // one that fills the lanes, eight that halve them
  static_assert(kThreads >> (kPhases - 1) == 1);
  struct Shared {
    Wide lane[kThreads];
  };
  Term term;
  Wide neutral;
  Index n, length;
  unsigned pieces;
  Wide* to;

  TENON_DEVICE void operator()(int phase, const Place& p, Shared& shared) const {
    const Op op;
    if (phase == 0) {
      const Index group = p.block / pieces, begin = (p.block % pieces) * length;
      const Index end = begin + length < n ? begin + length : n;
      Wide all = neutral;
      for (Index i = begin + p.thread; i < end; i += kThreads)
        all = op(all, term(group, i));
      shared.lane[p.thread] = all;
      return;
    }
    const unsigned half = kThreads >> phase;
    if (p.thread < half)
      shared.lane[p.thread] = op(shared.lane[p.thread], shared.lane[p.thread + half]);
    if (half == 1 && p.thread == 0)
      to[p.block] = shared.lane[0];
  }
};

// One thread for each group: to[group].
template <class Op, class Term>
struct GroupLoops {
  using Wide = typename Term::Wide;
  Term term;
  Wide neutral;
  Index n;
  Wide* to;

  TENON_DEVICE void operator()(Index group) const {
    const Op op;
    Wide all = neutral;
    for (Index i = 0; i < n; ++i)
      all = op(all, term(group, i));
    to[group] = all;
  }
};

// The pieces of each group together, in order, handed to use(group, value).
template <class Op, class Wide, class Use>
struct GroupEnds {
  const Wide* parts;
  Wide neutral;
  Index pieces;
  Use use;

  TENON_DEVICE void operator()(Index group) const {
    const Op op;
    Wide all = neutral;
    for (Index i = 0; i < pieces; ++i)
      all = op(all, parts[group * pieces + i]);
    use(group, all);
  }
};

// What becomes of a group's value: y[group] is it.
template <class T, class Wide>
struct StoreGroup {
  T* y;
  TENON_DEVICE void operator()(Index group, Wide value) const { y[group] = T(value); }
};

// x y of two boxes; y null: x.
template <class T>
struct DotTerm {
  using Wide = double;
  Cells<2> cells;
  const T *x, *y;
  TENON_DEVICE double operator()(Index, Index i) const {
    const auto at = cells(i);
    return double(x[at.of[0]]) * (y ? double(y[at.of[1]]) : 1.0);
  }
};

template <class T>
struct SizeTerm {
  using Wide = double;
  Cells<2> cells;
  const T* x;
  TENON_DEVICE double operator()(Index, Index i) const {
    return std::abs(double(x[cells(i).of[0]]));
  }
};

// a x of a box of y's cells and, for each, of the cells that are summed; a null: x.
template <class T>
struct ProductTerm {
  using Wide = std::conditional_t<std::is_integral_v<T>, T, double>;
  Cells<2> written, summed; // offsets in a and x
  const T *a, *x;
  TENON_DEVICE Wide operator()(Index group, Index i) const {
    const auto at = written(group), more = summed(i);
    const Wide value = x[at.of[1] + more.of[1]];
    return a ? Wide(a[at.of[0] + more.of[0]]) * value : value;
  }
};
// y[cell] += alpha value
template <class T, class Wide>
struct AddToCell {
  Cells<1> cells;
  T alpha;
  T* y;
  TENON_DEVICE void operator()(Index group, Wide value) const {
    y[cells(group).of[0]] += T(alpha * T(value));
  }
};

// y += alpha a x, of three boxes; a null: ones.
template <class T>
struct MultiplyAddCells {
  Cells<3> cells;
  T alpha;
  const T *a, *x;
  T* y;
  TENON_DEVICE void operator()(Index i) const {
    const auto at = cells(i);
    y[at.of[2]] += alpha * (a ? a[at.of[0]] : T(1)) * x[at.of[1]];
  }
};

} // namespace tenon::functors
