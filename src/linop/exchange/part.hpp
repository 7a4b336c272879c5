// SPDX-License-Identifier: BSD-2-Clause
// Part: the data that one rank sends another, as boxes of elements in the local arrays of both;
// whole, or in chunks of bounded size that both ranks compute alike.
#pragma once

#include "dtensor/data_type.hpp"
#include "geometry/schedule/schedule.hpp"

#include <algorithm>
#include <array>

namespace tenon {

// One box of elements in a local array. With a list, the entries of the list from `first` on are
// counted along the first of the list's dimensions, and begin is 0 in all of its dimensions.
struct Region {
  std::array<Index, kMaxRank> extent{}, begin{}, step{};
  Index elements = 0;
  ElementListPtr list = {};
  Index first = 0;
  int sign = 1; // Factor of the elements at the target, 1 or -1.
  // Copies of the list in device memory, if there are arrays in it.
  const Index* devicePositions = nullptr;
  const double* deviceWeights = nullptr;

  bool operator==(const Region&) const = default;
};

// Divides a list of regions into chunks. Regions with at most maxElements elements together are one
// chunk. Otherwise each is divided separately, along the outermost dimension for which the pieces
// have about that size.
class Chunks {
public:
  Chunks(const std::vector<Region>& regions, int rank, Index maxElements);

  Index count() const noexcept { return first_.back(); }
  Interval all() const noexcept { return {0, count()}; }
  // Calls visit(from, to) for each region of these chunks; `chunks` is all() or one chunk.
  template <class Visit>
  void visit(const std::vector<Region>& from, const std::vector<Region>& to, Interval chunks,
             Visit visit) const {
    if (chunks == all()) {
      for (std::size_t i = 0; i < from.size(); ++i)
        visit(from[i], to[i]);
      return;
    }
    const auto after = std::upper_bound(first_.begin(), first_.end(), chunks.begin);
    const std::size_t i = after - first_.begin() - 1;
    const Index piece = chunks.begin - first_[i];
    visit(pieceOf(from[i], cuts_[i], piece), pieceOf(to[i], cuts_[i], piece));
  }

private:
  // A piece has `rows` indices of dimension `dim`, one index of each dimension before it, and all
  // indices of each dimension after it.
  struct Cut {
    int dim = 0;
    Index rows = 1;
  };
  static Cut cutOf(const Region& region, int rank, Index maxElements);
  static Index pieces(const Region& region, const Cut& cut);
  static Region pieceOf(const Region& region, const Cut& cut, Index piece);

  std::vector<Cut> cuts_;    // Division of each region; empty if there is one chunk.
  std::vector<Index> first_; // First chunk of each region, and the total.
};

struct Part {
  int peer = -1;
  Index elements = 0;
  std::vector<Region> from, to;
  Chunks chunks;

  template <class Visit>
  void visit(Interval chunkRange, Visit visit) const {
    chunks.visit(from, to, chunkRange, visit);
  }
};

// One direction of a schedule on a rank: from source to target, or back in the adjoint.
struct Direction {
  std::vector<Part> packs, unpacks;      // The rank's own part is in both lists.
  std::vector<Region> zeros, userValues; // Target elements without a contribution.
  int rank = -1;                         // This rank, whose own part is not sent.
  // True if target elements can get several contributions; otherwise each gets at most one.
  bool sums = false;
  bool sameTarget = false;   // True if all parts are added to the same box of elements.
  bool coversTarget = false; // True if the first part has a value for each target element.

  bool isOwn(const Part& part) const noexcept { return part.peer == rank; }
  // The indices of the parts of other ranks for which accept(peer) is true.
  template <class Accept>
  std::vector<std::size_t> others(const std::vector<Part>& parts, Accept accept) const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!isOwn(parts[i]) && accept(parts[i].peer))
        indices.push_back(i);
    return indices;
  }
};

Direction makeDirection(const Schedule& schedule, bool forward, int rank, Index elementBytes);

} // namespace tenon
