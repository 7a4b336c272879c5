// SPDX-License-Identifier: BSD-2-Clause
// A grid stores the rank of each position, so one of 2^31 - 1 positions would allocate 8 GiB before
// it could be rejected. The product of the extents is therefore compared first.
#include "geometry/layout/checked_grid.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

GridPtr gridWithin(const std::vector<int>& extents, Index processes) {
  Index size = 1;
  for (int extent : extents)
    if (size *= std::max(extent, 1); size > processes)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("a process grid of {} does not fit into {}; pass a grid of at most "
                              "as many",
                              fmt::join(extents, "x"), counted(processes, "process", "processes")));
  return Grid::make(extents);
}

} // namespace tenon
