// SPDX-License-Identifier: BSD-2-Clause
// The trees of ranks along which a vote goes (vote.hpp): rank 0 has one child, and every other rank
// at most two. The tree of the one order is read up and down, that of the other down; a rank that
// has children in one of them has none, or one, in the other, so that all send about as much.
#pragma once

#include <array>

namespace tenon {

class VoteTree {
public:
  enum class Order { Ranks, Mirrored };

  VoteTree(int ranks, Order order) : last_(ranks - 1), isMirrored_(order == Order::Mirrored) {}

  // The rank above one other than 0.
  int parent(int rank) const { return placed(above(placed(rank))); }
  // The ranks below one; -1 where there is none.
  std::array<int, 2> children(int rank) const {
    const int place = placed(rank);
    std::array<int, 2> ranks = {-1, -1};
    int count = 0;
    for (int below : {2 * place, 2 * place + 1})
      if (below > 0 && below < last_ && above(below) == place)
        ranks[count++] = placed(below);
    if (last_ > 0 && above(last_) == place)
      ranks[count] = placed(last_);
    return ranks;
  }

private:
  // A rank's place, and the rank of a place.
  int placed(int rank) const { return isMirrored_ && rank > 0 ? last_ + 1 - rank : rank; }
  // A binary heap. The last of the mirrored places hangs below the one in the middle, which is a
  // leaf of both trees otherwise.
  int above(int place) const {
    return isMirrored_ && place == last_ && place > 1 ? (place + 1) / 2 : place / 2;
  }

  int last_;
  bool isMirrored_;
};

} // namespace tenon
