// SPDX-License-Identifier: BSD-2-Clause
// The process grids that a search tries. Each has a plan of its own, and the fastest plan is
// chosen. A grid has the prime factors of a number of processes as its axes, in the order of the
// machine's levels. A plan splits the batch by the first axes, and space by the last ones. So the
// order of the axes determines which levels of the machine split the batch, and which split space:
//
//     batch   the order of the levels: the outermost levels split the batch
//     space   reversed: the outermost levels split space
//     auto    both
//     all     all orders: the placements of Xie et al., Synthesizing Optimal Parallelism Placement
//             and Reduction Strategies on Hierarchical Systems for Deep Learning
//
// For example, 2 nodes of 6 processes are a grid of 2 x 2 x 3, and its reverse is 3 x 2 x 2.
#pragma once

#include "planner/parallelizations/parallelization.hpp"

#include <string>
#include <vector>

namespace tenon {

// The settings that choose the grids.
struct GridChoice {
  std::string placement = "batch";
  bool fewerProcesses = false; // also grids of fewer processes than there are
  bool isFlat = true;          // the machine has one level: all orders cost the same
};

// The grids to search, that of all processes first.
std::vector<FineGrid> candidateGrids(const FineGrid& all, const GridChoice& choice);

} // namespace tenon
