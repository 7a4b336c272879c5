// SPDX-License-Identifier: BSD-2-Clause
// Chooses which windows (layers with a halo) of a plan share a halo exchange with the windows
// before them. Windows are numbered in the order of the network. A group of consecutive windows has
// one exchange, and all windows but its first compute their halos. The saving of a group does not
// depend on the other groups, so the best groups of a chain are a shortest path from the first
// window to one past the last. In a network with branches, consecutive windows can be on two
// branches, and the path is a heuristic.
#pragma once

#include "sys/types.hpp"

#include <functional>
#include <vector>

namespace tenon {

struct HaloRun {
  double seconds = 0, bytes = 0;
  std::vector<int> computed = {}; // windows whose halo is computed
};
// Prices a run in which the marked windows may compute their halos.
using RunOfHalos = std::function<HaloRun(const std::vector<bool>& mayCompute)>;

// The fastest run with groups of at most `depth` windows within a limit in bytes; 0: no limit. The
// run without groups is requested first, and is the result if no other run is faster and fits.
HaloRun fastestHalos(int windows, Index depth, double bytes, const RunOfHalos& run);

} // namespace tenon
