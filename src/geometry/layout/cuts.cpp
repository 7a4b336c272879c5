// SPDX-License-Identifier: BSD-2-Clause
// Balanced and nested cuts. Nested cuts are balanced level by level: 10 by 2 and 2 is 3, 2, 3, 2,
// while 10 by 4 is 3, 3, 2, 2. All ranks compute the same integers.
#include "geometry/layout/cuts.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

std::vector<Index> balancedCuts(Index extent, int parts) {
  std::vector<Index> cuts(parts + 1, 0);
  for (int i = 0; i < parts; ++i)
    cuts[i + 1] = cuts[i] + extent / parts + (i < extent % parts);
  return cuts;
}

std::vector<Index> nestedCuts(Index extent, const std::vector<int>& parts) {
  std::vector<Index> cuts = {0, extent};
  for (int n : parts) {
    std::vector<Index> finer = {0};
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
      for (int j = 1; j <= n; ++j) {
        const Index extent = cuts[i + 1] - cuts[i];
        // The first `extent mod n` pieces are longer by one, as in balancedCuts().
        finer.push_back(cuts[i] + extent / n * j + std::min<Index>(j, extent % n));
      }
    cuts = std::move(finer);
  }
  return cuts;
}

std::vector<Index> cutsOfExtent(std::vector<Index> cuts, Index extent) {
  const Index oldExtent = cuts.back();
  for (std::size_t i = 1; i < cuts.size(); ++i)
    cuts[i] = cuts[i] == oldExtent ? extent : std::min(cuts[i], extent);
  return cuts;
}

void checkCuts(const std::vector<Index>& cuts, Index extent, int parts, int dim) {
  if (static_cast<int>(cuts.size()) != parts + 1)
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format(
            "dimension {} is split into {} parts and needs {} split points, but {} were given: {}",
            dim, parts, parts + 1, cuts.size(), fmt::join(cuts, ",")));
  if (cuts.front() != 0 || cuts.back() != extent || !std::is_sorted(cuts.begin(), cuts.end()))
    throw Error(TENON_ERR_LAYOUT, fmt::format("the split points of dimension {} must be "
                                              "non-decreasing from 0 to its extent {}, but are {}",
                                              dim, extent, fmt::join(cuts, ",")));
}

} // namespace tenon
