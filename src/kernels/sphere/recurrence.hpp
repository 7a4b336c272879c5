// SPDX-License-Identifier: BSD-2-Clause
// Associated Legendre functions P_lm(cos t), orthonormal over the sphere together with exp(i m
// phi), without the sign (-1)^m: P_00 = sqrt(1 / 4 pi), P_10 = sqrt(3 / 4 pi) cos t, P_11 = sqrt(3
// / 8 pi) sin t. They are computed again at each use, for one order m and a few latitudes at a
// time, in the cache: a table of all of them has of the order of L^3 numbers, and reading it takes
// longer. The recurrences (all square roots):
//
//   P_mm = sqrt((2m+1) / 2m) sin t P_(m-1,m-1)
//   P_lm = a cos t P_(l-1,m) - b P_(l-2,m),   a^2 = (4 l^2 - 1) / (l^2 - m^2),
//                                             b^2 = (2l+1) ((l-1)^2 - m^2) / ((2l-3) (l^2 - m^2))
//
// sin^m t is less than the least double for m beyond 700 near the poles. Each value has therefore
// an exponent of its own: P_mm is multiplied by 2^460 once or more, and P_lm is divided by it as
// soon as it exceeds 1. Values that still have a factor are below 1e-138 and are returned as 0.
//
// Derivatives need P_lm / sin t, m > 0, which is finite at the poles: the same recurrences, begun
// with P_11 / sin t, have no division by sin t and lose no digits beside a pole.
#pragma once

#include "sys/types.hpp"

#include <vector>

namespace tenon {

// Computes the Legendre functions of some orders at some nodes, degree by degree.
class LegendreRecurrence {
public:
  enum class Values { Plain, OverSine }; // P_lm, or P_lm / sin t with m > 0

  // For the orders in this list, at these colatitudes in [0, pi].
  LegendreRecurrence(const std::vector<double>& colatitudes, std::vector<Index> orders,
                     Values values = Values::Plain);

  Index nodes() const noexcept { return static_cast<Index>(cosine_.size()); }
  const double* cosine() const noexcept { return cosine_.data(); }
  const double* sine() const noexcept { return sine_.data(); }

  // Number of doubles of scratch for sweep().
  static Index scratchOf(Index nodes) { return 4 * nodes; }
  // Calls row(l, p) for l = m .. degrees - 1, where m is the order at a place of the list and p[j]
  // is P_lm at node first + j, for j < count.
  template <class Row>
  void sweep(Index place, Index first, Index count, Index degrees, double* scratch,
             const Row& row) const {
    Columns columns = start(place, first, count, scratch);
    const Index m = orders_[place];
    for (Index l = m; l < degrees; ++l) {
      if (l > m)
        advance(m, l, columns);
      row(l, static_cast<const double*>(columns.value));
    }
  }

private:
  // The recurrence at `count` nodes: P_(l-1) and P_l with their factors, the number of factors of
  // each node, and P_l without. From node `settled` on no value has a factor.
  struct Columns {
    const double* cosine;
    double *before, *now, *factors, *value;
    Index count, settled;
  };
  Columns start(Index place, Index first, Index count, double* scratch) const;
  static void advance(Index m, Index l, Columns& columns);
  static void settle(Columns& columns);

  std::vector<Index> orders_;
  std::vector<double> cosine_, sine_;
  std::vector<double> first_, factors_; // P_mm [orders, nodes] and the number of its factors
};

} // namespace tenon
