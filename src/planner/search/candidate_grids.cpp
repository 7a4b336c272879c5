// SPDX-License-Identifier: BSD-2-Clause
// Lists the process grids that a search tries (candidate_grids.hpp). A number of processes with a
// large prime factor is hard to split. If processes may be idle, fewer are therefore tried, too:
// without the innermost axes, which leaves some processes of each node idle, and the next smaller
// numbers that have small factors only.
#include "planner/search/candidate_grids.hpp"

#include <algorithm>
#include <iterator>

namespace tenon {

namespace {

// Numbers of processes with small prime factors to try; each costs a whole search.
constexpr int kMaxRounded = 3;

bool hasSmallFactors(Index number) {
  for (Index factor : {2, 3, 5})
    while (number % factor == 0)
      number /= factor;
  return number == 1;
}

void addSmaller(std::vector<FineGrid>& grids) {
  const FineGrid all = grids.front();
  for (int axes = 1; axes <= all.axes(); ++axes)
    grids.push_back(all.withoutLast(axes));
  int found = 0;
  for (Index number = all.processes() - 1; number > 0 && found < kMaxRounded; --number)
    if (hasSmallFactors(number)) {
      grids.push_back(FineGrid({number}));
      ++found;
    }
}

} // namespace

std::vector<FineGrid> candidateGrids(const FineGrid& all, const GridChoice& choice) {
  std::vector<FineGrid> grids = {all};
  if (choice.fewerProcesses)
    addSmaller(grids);
  if (choice.placement == "batch" || (choice.isFlat && choice.placement != "space"))
    return grids;
  std::vector<FineGrid> placed;
  for (const FineGrid& grid : grids)
    if (choice.placement == "all")
      std::ranges::move(grid.orders(), std::back_inserter(placed));
    else {
      if (choice.placement == "auto")
        placed.push_back(grid);
      placed.push_back(grid.reversed());
    }
  return placed;
}

} // namespace tenon
