// SPDX-License-Identifier: BSD-2-Clause
// A lower bound of the price of a move, by what one rank must receive and send: some products of
// extents, where the price itself counts messages of many sizes. A search needs the prices of few
// of the moves that it has tables of, and looks at the others through this.
#pragma once

#include "geometry/schedule/traffic.hpp"
#include "machine/price.hpp"

#include <array>
#include <optional>

namespace tenon {

// What the rank at a grid's position 0 has under a layout.
class FirstPart {
public:
  explicit FirstPart(const Layout& layout);

  int rank() const noexcept { return rank_; }

  // At least what the rank receives in an exchange; and the collective that may do the same.
  struct Received {
    double elements = 0, messages = 0;
    std::optional<CollectiveKind> collective = {};
    int ranks = 1;
    Index whole = 0; // elements of the collective, as its price counts them
  };
  // In a conversion to another layout of the same shape; where a machine has levels, sums may go by
  // programs (reduction/sum_plan.hpp).
  Received receivedFor(const FirstPart& to, bool sumsByPrograms) const;

private:
  Index sharedWith(const FirstPart& to) const;
  double ownersOf(const FirstPart& to) const;
  double extentsOf(AxisMask axes) const;
  void addCollective(const FirstPart& to, Received& received) const;

  const Grid* grid_; // the layout's
  int rank_ = 0, dims_ = 0;
  std::array<Interval, kMaxRank> boxes_{}; // within the domain
  std::array<double, kMaxRank> perRow_{};  // parts for an element, at least
  std::array<AxisMask, kMaxRank> splitBy_{};
  AxisMask broadcast_ = 0, partial_ = 0;
  Index held_ = 1, most_ = 0; // by this rank; owned by any
  bool hasHalos_ = false, hasPartialHalos_ = false;
  bool hasGaps_ = false; // elements that no part has a box of, as where windows stride over them
};

// The best of all levels.
LinkRates bestLinks(const LinkRates& rates);
// At most the seconds of priceOfMove(), whatever the looks, and of a program. What is sent is what
// the adjoint receives.
double leastSecondsOfMove(const FirstPart::Received& received, const FirstPart::Received& sent,
                          Index elementBytes, const LinkRates& best);

} // namespace tenon
