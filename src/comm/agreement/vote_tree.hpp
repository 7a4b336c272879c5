// SPDX-License-Identifier: BSD-2-Clause
// The two trees of ranks along which the messages of a vote are sent (vote.hpp). In both, rank 0
// has one child, and every other rank at most two: a binary heap, in which place p has the children
// 2 p and 2 p + 1. Order::Ranks has rank p at place p; Order::Mirrored numbers the ranks 1 ... n-1
// from the end. The first tree is used for "here" (down) and ballots (up), the second for the
// verdict (down). Every rank but 0 that has children in one of them has none in the
// other, which balances the number of messages: a rank sends at most three, its ballot and two down
// one of the trees. With 8 ranks:
//
//   Order::Ranks:  0 - 1 -+- 2 -+- 4      Order::Mirrored:  0 - 7 -+- 6 -+- 4 - 1
//                         |     +- 5                               |     +- 3
//                         +- 3 -+- 6                               +- 5 - 2
//                               +- 7
#pragma once

#include <array>

namespace tenon {

// One of the two trees, for a number of ranks.
class VoteTree {
public:
  enum class Order { Ranks, Mirrored };

  VoteTree(int ranks, Order order) : last_(ranks - 1), isMirrored_(order == Order::Mirrored) {}

  // The parent of a rank other than 0.
  int parent(int rank) const { return mirrored(parentPlace(mirrored(rank))); }
  // The children of a rank; -1 for none.
  std::array<int, 2> children(int rank) const {
    const int place = mirrored(rank);
    std::array<int, 2> ranks = {-1, -1};
    int count = 0;
    for (int child : {2 * place, 2 * place + 1})
      if (child > 0 && child < last_ && parentPlace(child) == place)
        ranks[count++] = mirrored(child);
    if (last_ > 0 && parentPlace(last_) == place)
      ranks[count] = mirrored(last_);
    return ranks;
  }

private:
  // The place of a rank in the heap, and also the rank at a place: the map is its own inverse.
  int mirrored(int rank) const { return isMirrored_ && rank > 0 ? last_ + 1 - rank : rank; }
  // A binary heap. The last of the mirrored places is the child of the middle one, which otherwise
  // would be a leaf of both trees (rank 4 above).
  int parentPlace(int place) const {
    return isMirrored_ && place == last_ && place > 1 ? (place + 1) / 2 : place / 2;
  }

  int last_; // The largest rank, and the largest place.
  bool isMirrored_;
};

} // namespace tenon
