// SPDX-License-Identifier: BSD-2-Clause
// What the moves between layers cost: t_uv of the cost function (cost_model.hpp), for each pair of
// parallelizations of the writer u and the reader v:
//
//     t_uv(x_u, x_v) = weight (C(output of u -> use of v) + C(use of v* -> output of u*))
//
// C is the price of a conversion between two layouts, halo included (conversion_prices.hpp). The
// second is that of the cotangent, in training; the asterisk denotes the dual layout. Gholami et
// al. call it redistribution (arXiv 1712.04432, Eq. 6), DistPar an inserted conversion (A.3), and
// PaSE t_x.
//
// For example, a tensor of n elements that 4 processes have split by rows (S2) and the next layer
// reads split by channels (S1) is an all-to-all: each process keeps a quarter of its n/4 elements,
// and sends 3 messages of n/16. If both layers split the batch, the move is empty and costs
// nothing.
//
// Prices are cached by pairs of layouts, of which a network has far fewer than pairs of
// parallelizations. By precision they are a bound from the volume of one process
// (volume_bound.hpp), a lower bound from the messages at one position of the process grid, one from
// a few positions, and the exact maximum over all.
#pragma once

#include "planner/prices/layer_prices.hpp"
#include "planner/prices/volume_bound.hpp"

#include <array>
#include <unordered_map>

namespace tenon {

// The layouts at both ends of a move, as numbers by parallelization; -1 if the layer cannot have
// it.
struct MoveEnds {
  std::vector<int> sources, targets;
  double weight = 1;
  bool hasCotangent = true; // whether the cotangent moves back
  bool operator==(const MoveEnds&) const = default;
};

// The moves of a network with their prices, by numbers of moves and layouts.
class MovePrices {
public:
  // The conversions must outlive this object.
  MovePrices(ConversionPrices& conversions, const LinkRates& links, Index elementBytes);

  // The number of a layout. Equal layouts have one number.
  int numberOf(Layout layout);
  // Adds a move; moves are numbered from 0.
  void add(MoveEnds ends);
  // The first move with the same ends, whose prices it shares.
  int firstLike(int move) const { return firstLike_[move]; }

  double seconds(int move, int from, int to, Precision precision) const;
  // The terms of which the seconds of Precision::Close are the sum.
  MoveTerms terms(int move, int from, int to) const;

private:
  // Key: the numbers of two layouts, and whether the cotangent moves back.
  using Prices = std::unordered_map<std::uint64_t, double>;

  double leastSeconds(const MoveEnds& ends, int source, int target) const;
  double backwardSeconds(const MoveEnds& ends, int source, int target, Sampling sampling) const;

  ConversionPrices& conversions_;
  LinkRates bestLinks_;
  bool sumsByPrograms_;
  Index elementBytes_;
  std::vector<MoveEnds> ends_;          // by move
  std::vector<int> firstLike_;          // by move
  std::vector<Layout> layouts_, duals_; // without duplicates
  std::vector<FirstPart> parts_, dualParts_;
  std::map<std::pair<Shape, std::string>, std::vector<int>> layoutsLike_;
  mutable std::array<Prices, 3> prices_; // by precision above Least
};

} // namespace tenon
