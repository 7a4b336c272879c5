// SPDX-License-Identifier: BSD-2-Clause
// Which windows of a plan share a halo exchange with those before them. They are numbered in the
// order of the network; a group of them that follow each other has one exchange, and all but its
// first window compute their halos. What a group saves does not depend on the others, so that the
// best groups of a chain are a shortest path from the first window to behind the last one. Where a
// network branches, neighbours in this order may lie on two branches, and the path is a heuristic.
#pragma once

#include "sys/types.hpp"

#include <functional>
#include <vector>

namespace tenon {

struct HaloRun {
  double seconds = 0, bytes = 0;
  std::vector<int> computed = {}; // the windows whose halo is computed
};
// A run in which these windows may compute their halos.
using RunOfHalos = std::function<HaloRun(const std::vector<bool>& mayCompute)>;

// The fastest run with groups of at most `depth` windows and no more than so many bytes; 0: no
// limit. That without groups is the first that is requested, and is taken where no other is faster
// and fits.
HaloRun fastestHalos(int windows, Index depth, double bytes, const RunOfHalos& run);

} // namespace tenon
