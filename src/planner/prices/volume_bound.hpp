// SPDX-License-Identifier: BSD-2-Clause
// A lower bound of the price of a move, which is the conversion between the layouts of two layers.
// The bound uses the traffic of one rank only, a few products of extents, whereas the price counts
// messages of many sizes. By this bound a search excludes most moves in its tables, and computes
// the exact prices of few.

#pragma once

#include "geometry/schedule/traffic.hpp"
#include "machine/price.hpp"

#include <array>
#include <optional>

namespace tenon {

// The elements of the rank at position 0 of a grid under a layout.
class FirstPart {
public:
  explicit FirstPart(const Layout& layout);

  int ndim() const noexcept { return rank_; }

  // Lower bound of the rank's traffic in an exchange, and the collective that could replace it.
  struct Received {
    double elements = 0, messages = 0;
    std::optional<CollectiveKind> collective = {};
    int ranks = 1;
    Index whole = 0; // elements of the collective, as in its price
  };
  // The traffic of a conversion to another layout of the same shape. On a machine with levels,
  // reductions can use programs (reduction/sum_plan.hpp).
  Received receivedFor(const FirstPart& to, bool sumsByPrograms) const;

private:
  Index sharedWith(const FirstPart& to) const;
  double ownersOf(const FirstPart& to) const;
  double extentsOf(AxisMask axes) const;
  void addCollective(const FirstPart& to, Received& received) const;

  const Grid* grid_; // of the layout
  int rank_ = 0, dims_ = 0;
  std::array<Interval, kMaxDims> boxes_{}; // within the domain
  std::array<double, kMaxDims> perRow_{};  // lower bound of the parts per element
  std::array<AxisMask, kMaxDims> splitBy_{};
  AxisMask broadcast_ = 0, partial_ = 0;
  Index held_ = 1, most_ = 0; // elements of this rank; largest number that any rank owns
  bool hasHalos_ = false, hasPartialHalos_ = false;
  bool hasGaps_ = false; // some elements are in no part's box, as between windows with a large
                         // stride
};

// The best rates of all levels.
LinkRates bestLinks(const LinkRates& rates);
// A lower bound of the seconds of priceOfMove() at any precision, and of a program. `sent` is the
// traffic that the adjoint receives.
double leastSecondsOfMove(const FirstPart::Received& received, const FirstPart::Received& sent,
                          Index elementBytes, const LinkRates& best);

} // namespace tenon
