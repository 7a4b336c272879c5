// SPDX-License-Identifier: BSD-2-Clause
// What one rank gives another, as boxes of cells in the arrays of both: whole, or in chunks of a
// bounded size, which both ranks find alike.
#pragma once

#include "dtensor/data_type.hpp"
#include "geometry/schedule.hpp"

#include <array>

namespace tenon {

// One box of cells in a local array.
struct Region {
  std::array<Index, kMaxRank> extent{}, begin{}, step{};
  Index cells = 0;

  bool operator==(const Region&) const = default;
};

std::vector<Region> regionsOf(const std::vector<CellBox>& boxes);

struct Part {
  int peer = -1;
  int message = -1; // its number, if it is one
  int lane = -1;    // its number, if it goes by one
  Index offset = 0; // of the message in the buffer, bytes
  Index cells = 0;
  std::vector<Region> from, to;
  bool coversTarget = false;

  bool isOwn() const noexcept { return message < 0 && lane < 0; }
};

// From the schedule's source to its target, or back in the transpose.
Part makePart(const Transfer& transfer, bool transposed);

// A part of at most mostCells is one chunk. A larger one is cut region by region, along the
// outermost dimension that gives pieces of that size.
class Chunks {
public:
  Chunks(const Part& part, int rank, Index mostCells);

  Index count() const noexcept { return first_.back(); }
  // visit(from, to) for each region of a chunk.
  template <class Visit>
  void visit(const Part& part, Index chunk, Visit visit) const {
    if (cuts_.empty()) {
      for (std::size_t i = 0; i < part.from.size(); ++i)
        visit(part.from[i], part.to[i]);
      return;
    }
    const auto after = std::upper_bound(first_.begin(), first_.end(), chunk);
    const std::size_t i = after - first_.begin() - 1;
    const Index piece = chunk - first_[i];
    visit(pieceOf(part.from[i], cuts_[i], piece), pieceOf(part.to[i], cuts_[i], piece));
  }

private:
  // Pieces of `rows` indices of dimension `dim`, of one index of all before it, and of all after it.
  struct Cut {
    int dim = 0;
    Index rows = 1;
  };
  static Cut cutOf(const Region& region, int rank, Index mostCells);
  static Index pieces(const Region& region, const Cut& cut);
  static Region pieceOf(const Region& region, const Cut& cut, Index piece);

  std::vector<Cut> cuts_;    // of each region; none if the part is one chunk
  std::vector<Index> first_; // chunk of each region, and the end
};

} // namespace tenon
