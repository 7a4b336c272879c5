// SPDX-License-Identifier: BSD-2-Clause
// Counts through the coordinates of a line. The axes are taken as one, so that a member's number
// has one digit for each of them, of which the last axis has the fastest.
#include "machine/line.hpp"

namespace tenon {

std::vector<int> lineOf(const Grid& grid, const std::vector<int>& axes, int position) {
  std::vector<int> coordinates = grid.coordinates(position), ranks(grid.extentOf(axes));
  for (int member = 0; member < static_cast<int>(ranks.size()); ++member) {
    int rest = member;
    for (std::size_t i = axes.size(); i-- > 0; rest /= grid.extent(axes[i]))
      coordinates[axes[i]] = rest % grid.extent(axes[i]);
    ranks[member] = grid.rank(grid.positionAt(coordinates));
  }
  return ranks;
}

} // namespace tenon
