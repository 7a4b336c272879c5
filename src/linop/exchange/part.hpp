// SPDX-License-Identifier: BSD-2-Clause
// What one rank gives another, as boxes of elements in the arrays of both: whole, or in chunks of a
// bounded size, which both ranks find alike.
#pragma once

#include "dtensor/data_type.hpp"
#include "geometry/schedule/schedule.hpp"

#include <algorithm>
#include <array>

namespace tenon {

// One box of elements in a local array. With a list, its entries from `first` on are counted along
// the first dimension of the list, and begin is 0 in all of its dimensions.
struct Region {
  std::array<Index, kMaxRank> extent{}, begin{}, step{};
  Index elements = 0;
  ElementListPtr list = {};
  Index first = 0;
  int sign = 1; // by which elements are multiplied where they arrive
  // The list's numbers on the device, once there are arrays on it.
  const Index* devicePositions = nullptr;
  const double* deviceWeights = nullptr;

  bool operator==(const Region&) const = default;
};

// Cuts a list of regions. If they have at most mostElements elements together, they are one chunk.
// Otherwise they are cut one by one, along the outermost dimension that gives pieces of that size.
class Chunks {
public:
  Chunks(const std::vector<Region>& regions, int rank, Index mostElements);

  Index count() const noexcept { return first_.back(); }
  Interval all() const noexcept { return {0, count()}; }
  // Calls visit(from, to) for each region of these chunks, which are all of them or one.
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
  // indices of each one after it.
  struct Cut {
    int dim = 0;
    Index rows = 1;
  };
  static Cut cutOf(const Region& region, int rank, Index mostElements);
  static Index pieces(const Region& region, const Cut& cut);
  static Region pieceOf(const Region& region, const Cut& cut, Index piece);

  std::vector<Cut> cuts_;    // of each region; none if all is one chunk
  std::vector<Index> first_; // chunk of each region, and the end
};

struct Part {
  int peer = -1;
  Index elements = 0;
  std::vector<Region> from, to;
  Chunks chunks;

  template <class Visit>
  void visit(Interval which, Visit visit) const {
    chunks.visit(from, to, which, visit);
  }
};

// One direction of a schedule on a rank: from its source to its target, or back in the transpose.
struct Direction {
  std::vector<Part> packs, unpacks;      // the rank's own part is in both
  std::vector<Region> zeros, userValues; // target elements that nobody contributes to
  int rank = -1;                         // this one, whose own part stays where it is
  bool sums = false;         // target elements may get several contributions; else at most one
  bool sameTarget = false;   // all parts are added to one box of elements
  bool coversTarget = false; // the first part brings each target element a value

  bool isOwn(const Part& part) const noexcept { return part.peer == rank; }
  // The numbers of the parts of other ranks for which is(peer) holds.
  template <class Is>
  std::vector<std::size_t> others(const std::vector<Part>& parts, Is is) const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!isOwn(parts[i]) && is(parts[i].peer))
        numbers.push_back(i);
    return numbers;
  }
};

Direction makeDirection(const Schedule& schedule, bool forward, int rank, Index elementBytes);

} // namespace tenon
