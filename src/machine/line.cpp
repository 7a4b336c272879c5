// SPDX-License-Identifier: BSD-2-Clause
// Enumerates the coordinates of a line. The axes are treated as one, so a member's number has one
// digit per axis, with the last axis fastest: along axes of extents 2 and 3, members 0 to 5 have
// the coordinates (0,0) (0,1) (0,2) (1,0) (1,1) (1,2).
#include "machine/line.hpp"

namespace tenon {

std::vector<int> lineOf(const Grid& grid, const std::vector<int>& axes, int position) {
  std::vector<int> coordinates = grid.coordinates(position), ranks(grid.extentOf(axes));
  for (int member = 0; member < static_cast<int>(ranks.size()); ++member) {
    int digits = member;
    for (std::size_t i = axes.size(); i-- > 0; digits /= grid.extent(axes[i]))
      coordinates[axes[i]] = digits % grid.extent(axes[i]);
    ranks[member] = grid.rank(grid.positionAt(coordinates));
  }
  return ranks;
}

} // namespace tenon
